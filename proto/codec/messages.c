/* messages.c - the tables of every message, made from the .def files (see define.h). */
#include "proto/codec/messages.h"
#include <stddef.h>

#define PASS_TABLES
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef PASS_TABLES

#define PASS_LISTS

const struct type *(*const message_types[])(void) = {
#define LIST_TYPE(name) name##_type,
#define LIST_ENUMERATION(name)
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef LIST_TYPE
#undef LIST_ENUMERATION
};

const struct enumeration *(*const message_enumerations[])(void) = {
#define LIST_TYPE(name)
#define LIST_ENUMERATION(name) name##_enumeration,
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef LIST_TYPE
#undef LIST_ENUMERATION
};

const size_t message_type_count = sizeof(message_types) / sizeof(message_types[0]);
const size_t message_enumeration_count =
	sizeof(message_enumerations) / sizeof(message_enumerations[0]);
