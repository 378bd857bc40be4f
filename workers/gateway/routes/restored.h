/*
 * restored.h - session:resumed: what the store answers, put together with what the file
 * worker has.
 *
 * Unsaved texts may be megabytes. They are asked for a part at a time, so that no turn of
 * a loop is long; neither the store nor a second copy of them is in between.
 */
#pragma once

#include "common/base/str.h"

struct gateway;
struct payload;

/* Texts beyond it are left out, their sizes told. */
#define RESTORED_MAX_BYTES (20u * 1024 * 1024)

/* `payload` is borrowed. */
typedef void restored_fn(void *arg, struct payload *payload);

/*
 * `answer`: of the store, a session_resumed; copied. Calls `fn` later, exactly once. When
 * the file worker does not answer in time, its items are what came until then, and `incomplete` tells
 * the window to ask for them (buffers:request): nobody tells it of them again.
 */
void restored_complete(
	struct gateway *gateway, struct str answer, restored_fn *fn, void *arg);
