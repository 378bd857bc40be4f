/*
 * messages.h - C structs, constants and tables of every message, made from the .def files.
 *
 * For a type `file_open` there are: `struct file_open`, and `const struct type *file_open_type(void)`.
 * For an enumeration `hint_level`: constants HINT_LEVEL_<NAME>... as written in NAME, and
 * `const struct enumeration *hint_level_enumeration(void)`.
 */
#pragma once

#include "proto/codec/codec.h"

#define PROTO_DEF "proto/catalogue/all.def"

/* Pass 1: constants. */
#define PASS_CONSTANTS
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef PASS_CONSTANTS

/* Pass 2: structs. */
#define PASS_STRUCTS
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef PASS_STRUCTS

/* Pass 3: accessors. */
#define PASS_ACCESSORS
#include "proto/codec/pass.h"
#include PROTO_DEF
#include "proto/codec/pass_end.h"
#undef PASS_ACCESSORS

/* All of them, in the order of the .def files, for what is derived from the catalogues. */
extern const struct type *(*const message_types[])(void);
extern const size_t message_type_count;
extern const struct enumeration *(*const message_enumerations[])(void);
extern const size_t message_enumeration_count;
