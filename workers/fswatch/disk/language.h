/*
 * language.h - what the name of a file says about its content. Pure.
 *
 * The catalogues are language.def, binary.def and noise.def.
 */
#pragma once

#include "common/base/str.h"

/* What a file is called that is not text. */
#define LANGUAGE_BINARY "binary"

/* The language of a file, "plaintext" when its name tells none. Static text. */
const char *language_of(struct str path);

/* True when the name alone says that the file is not text (FR-038). */
bool language_is_binary(struct str path);
