/* restored.c - see restored.h. */
#include "workers/gateway/routes/restored.h"
#include "common/base/alloc.h"
#include "common/base/log.h"
#include "common/bus/bus.h"
#include "common/loop/timer.h"
#include "proto/codec/messages.h"
#include "proto/tables/errors.h"
#include "workers/gateway/http/gateway.h"
#include "workers/gateway/http/json_slice.h"
#include "workers/gateway/ws/payload.h"
#include <stdlib.h>

/* For a part, and for all of them: the session waits no longer for a file worker that is away or
 * busy. */
#define PART_MS 2000
#define ALL_MS 8000
/* Of a part, copied in one turn of the loop. */
#define SLICE_BYTES (1024u * 1024)

/* Asked for one after the other, each part by part. */
static const enum state_item items[] = {STATE_OPEN_FILES, STATE_BUFFERS, STATE_DIFFS};
#define ITEMS (sizeof(items) / sizeof(items[0]))

struct restoring {
	struct gateway *gateway;
	restored_fn *fn;
	void *arg;
	struct mono end;
	size_t item;	       /* the one that is being asked for */
	bool brief;	       /* without long texts */
	bool incomplete;       /* something is missing */
	struct buf after;      /* where the next part begins; empty: at the beginning */
	struct bus_kept *kept; /* a long part, of which `rest` is to be copied */
	struct str rest;
	bool more;	/* and there are others behind it */
	struct buf own; /* members of the store, with their comma */
	struct buf out;
};

static const char *name_of(size_t item)
{
	return state_item_enumeration()->names[items[item]];
}

/* What is between the brackets of an object or an array. */
static struct str inside(struct str json)
{
	if (json.len < 2)
		return (struct str){"", 0};
	return (struct str){json.ptr + 1, json.len - 2};
}

static void finish(struct restoring *r)
{
	struct payload *payload;

	buf_add_str(&r->out, buf_str(&r->own));
	buf_add_char(&r->out, '}');
	if (r->incomplete)
		buf_add_str(&r->out, STR_LIT(",\"incomplete\":true"));
	buf_add_char(&r->out, '}');
	payload = payload_taking(&r->out);
	r->fn(r->arg, payload);
	payload_unref(payload);
	buf_free(&r->after);
	buf_free(&r->own);
	free(r);
}

static void on_part(void *arg, const struct bus_reply *reply);

static void ask(struct restoring *r)
{
	struct str name = str_of(name_of(r->item));

	bus_call_message(r->gateway->bus, METHOD_FS_STATE, (struct str){NULL, 0},
		&(struct fs_state_query){
			.include = {&name, 1},
			.brief = r->brief,
			.has_brief = r->brief,
			.after =
				r->after.len ? buf_str(&r->after) : (struct str){NULL, 0},
		},
		PART_MS, on_part, r);
}

static void begin_item(struct restoring *r)
{
	buf_printf(&r->out, "%s\"%s\":[", r->item > 0 ? "," : "", name_of(r->item));
	buf_clear(&r->after);
}

/* The item is complete, or no more can be had: then not `ask_on`. */
static void next_item(struct restoring *r, bool ask_on)
{
	buf_add_char(&r->out, ']');
	r->incomplete = r->incomplete || !ask_on;
	while (++r->item < ITEMS) {
		begin_item(r);
		if (ask_on) {
			ask(r);
			return;
		}
		buf_add_char(&r->out, ']');
	}
	finish(r);
}

/* Where the next part begins. False when this was the last. `head`: of the answer, before the
 * items, which may be long. */
static bool read_next(struct restoring *r, struct str head)
{
	struct str json = json_slice_member(head, "next");
	AUTO_DOC *document = NULL;
	yyjson_val *next;

	buf_clear(&r->after);
	if (!json.ptr)
		return false;
	document = yyjson_read(json.ptr, json.len, 0);
	next = yyjson_doc_get_root(document);
	if (yyjson_is_str(next))
		buf_add(&r->after, yyjson_get_str(next), yyjson_get_len(next));
	return r->after.len > 0;
}

static void part_taken(struct restoring *r)
{
	if (r->out.len > RESTORED_MAX_BYTES)
		r->brief = true;
	if (!r->more) {
		next_item(r, true);
	} else if (clock_mono().us < r->end.us) {
		ask(r);
	} else {
		log_warn("a window does not get everything, the file worker takes too "
			 "long",
			"item", "%s", name_of(r->item), "bytes", "%zu", r->out.len, NULL);
		next_item(r, false);
	}
}

static void copy_slice(struct restoring *r);

static void on_slice(EVENT_UNUSED, void *arg)
{
	copy_slice(arg);
}

static void copy_slice(struct restoring *r)
{
	size_t n = r->rest.len < SLICE_BYTES ? r->rest.len : SLICE_BYTES;

	buf_add(&r->out, r->rest.ptr, n);
	r->rest = (struct str){r->rest.ptr + n, r->rest.len - n};
	if (r->rest.len > 0) {
		if (event_once_ms(r->gateway->worker->base, on_slice, r, 0) < 0)
			abort(); /* out of memory */
		return;
	}
	bus_kept_release(r->kept);
	part_taken(r);
}

static void take_part(struct restoring *r, const struct bus_reply *reply)
{
	struct str body = reply->body,
		   listed = json_slice_last_member(body, name_of(r->item)),
		   part = inside(listed);

	r->more = listed.ptr &&
		  read_next(r, (struct str){body.ptr, (size_t)(listed.ptr - body.ptr)});
	if (part.len > 0 && r->out.data[r->out.len - 1] != '[')
		buf_add_char(&r->out, ',');
	buf_reserve(&r->out, part.len);
	r->kept = bus_reply_keep(reply);
	if (!r->kept) {
		buf_add_str(&r->out, part);
		part_taken(r);
		return;
	}
	r->rest = part;
	copy_slice(r);
}

static void on_part(void *arg, const struct bus_reply *reply)
{
	struct restoring *r = arg;

	if (reply->status == BUS_OK) {
		take_part(r, reply);
		return;
	}
	if (reply->status == BUS_TOO_BIG && !r->brief) {
		r->brief = true;
		ask(r);
		return;
	}
	/* The session goes on all the same. */
	log_warn("the file worker does not tell what a window needs", "item", "%s",
		name_of(r->item), "code", "%.*s", STR_ARG(reply->code), "message", "%.*s",
		STR_ARG(reply->message), NULL);
	next_item(r, false);
}

void restored_complete(
	struct gateway *gateway, struct str answer, restored_fn *fn, void *arg)
{
	struct restoring *r = xcalloc(1, sizeof(*r));
	struct str own = inside(json_slice_member(answer, "restoredState"));

	r->gateway = gateway;
	r->fn = fn;
	r->arg = arg;
	r->end = mono_add_ms(clock_mono(), ALL_MS);
	if (own.len > 0)
		buf_add_char(&r->own, ',');
	buf_add_str(&r->own, own);
	buf_add_str(&r->out, STR_LIT("{\"restoredState\":{"));
	begin_item(r);
	ask(r);
}
