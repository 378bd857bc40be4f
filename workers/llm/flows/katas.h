/* katas.h - katas as the model gives them, turned into katas as they are kept. Pure
 * (P2.3, P9.3). */
#pragma once

#include "proto/codec/messages.h"

/*
 * Constraints become objects: a title alone has level 1, the follow-up one level 5. The
 * notes are those given, else the test cases as a list. Borrows from `found` and the
 * arena.
 */
struct kata_store kata_from_model(const struct found_kata *found, struct arena *arena);
