/* guard_kinds.h - for each of the four policy machines: the types of its constants and of
 * its state. */
#pragma once

#include "proto/codec/codec.h"

struct guard_kind_info {
	const struct type *(*config)(
		void); /* the constants that may be given at creation */
	const struct type *(*view)(void); /* the state as clients see it */
};

/* By enum guard_kind. */
extern const struct guard_kind_info guard_kind_infos[];
extern const size_t guard_kind_count;
