/* messages.c - the tables of every message, made from the .def files (see define.h). */
#include "proto/messages.h"
#include <stddef.h>

#define PASS_TABLES
#include "proto/pass.h"
#include PROTO_DEF
#include "proto/pass_end.h"
