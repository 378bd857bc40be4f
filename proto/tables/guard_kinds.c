/* guard_kinds.c - the table behind guard_kinds.h. */
#include "proto/tables/guard_kinds.h"
#include "proto/codec/messages.h"

const struct guard_kind_info guard_kind_infos[] = {
	[GUARD_SESSION] = {session_guard_config_type, session_guard_view_type},
	[GUARD_BREAKLOOP] = {breakloop_config_type, breakloop_view_type},
	[GUARD_INTERVIEW] = {interview_config_type, interview_view_type},
	[GUARD_IDLE] = {idle_config_type, idle_view_type},
};
const size_t guard_kind_count = sizeof(guard_kind_infos) / sizeof(guard_kind_infos[0]);
