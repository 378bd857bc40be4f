/*
 * machine.h - one interface for the four policy machines.
 *
 * A machine is a pure function: a state and an event give the next state, rows for the
 * stream and effects. It reads no clock, no file and no random source and allocates
 * nothing; the time is in the event, and timers are events of type `tick`. States are
 * flat structs of fixed size, so a copy is an assignment. Everything around it (storing,
 * timers, clients, models) is the engine's.
 *
 * Called by stream.c, the engine and the tests. A machine must never keep a pointer of an
 * event.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include <stdint.h>

/* No deadline, or a time that never comes. */
#define MACHINE_NEVER INT64_MAX

/* What one event can cause at most, rows and effects together. */
#define MACHINE_MAX_ITEMS 16
/* Questions to the model that one instance can have open. */
#define MACHINE_MAX_REQUESTS 16

/*
 * Which clock the times of a machine follow (R49). Both count Unix milliseconds from the
 * creation of the instance and never go back: a change of the wall clock moves neither.
 */
enum machine_clock {
	MACHINE_CLOCK_BOOT,  /* goes on while the computer sleeps */
	MACHINE_CLOCK_AWAKE, /* stands still while the computer sleeps: it cannot have
				worked then */
};

/* First member of every state. */
struct machine_base {
	int rules;     /* revision of the rules by which this stream runs */
	int64_t at_ms; /* of the last event that was taken */
};

struct machine_event {
	int type; /* an item of the machine */
	int64_t at_ms;
	int64_t seq; /* the number that its row gets */
	struct guard_facts facts;
	void *fields; /* decoded, of the item's event type; NULL when it has none */
};

/* Enough for the payload of any row; a machine writes into it what machine_add gives it.
 */
union machine_payload {
	struct guard_row_created created;
	struct session_guard_row session_row;
	struct session_guard_row_control session_control;
	struct session_guard_transition session_transition;
	struct breakloop_row breakloop_row;
	struct breakloop_row_settings breakloop_settings;
	struct breakloop_quick_task breakloop_quick_task;
	struct interview_row_message interview_message;
	struct interview_row_code interview_code;
	struct interview_row_section interview_section;
	struct interview_prompt interview_prompt;
	struct interview_request interview_request;
	struct interview_assistant interview_assistant;
	struct interview_end interview_end;
	struct interview_result interview_result;
	struct idle_recheck idle_recheck;
	struct idle_kill idle_kill;
	struct guard_failure failure;
	struct guard_text text;
};

struct machine_item {
	int type;
	const void *payload; /* borrows the event, the state, static text or `out` */
};

/* Text that a payload needs and that stands nowhere else. */
#define MACHINE_OUT_TEXT 4096
#define MACHINE_OUT_STRINGS 160

struct machine_out {
	const char *refusal; /* why, when the state does not allow the event */
	int count;
	struct machine_item
		items[MACHINE_MAX_ITEMS];      /* the first is the event's own row */
	const struct guard_decision *decision; /* breakloop, about an entry; NULL: none */
	union machine_payload payloads[MACHINE_MAX_ITEMS];
	char text[MACHINE_OUT_TEXT];
	size_t text_len;
	struct str strings[MACHINE_OUT_STRINGS];
	size_t string_count;
};

enum machine_item_flags {
	ITEM_CLIENT = 1 << 0, /* an event that clients send */
	ITEM_ENGINE = 1 << 1, /* an event that only the engine makes: ticks, answers of
				 the model */
	ITEM_ROW = 0,	      /* only a row: something that follows from an event */
};

/* One kind of row, and the event and the effect that go with it. */
struct machine_item_info {
	unsigned flags;
	const char *event; /* type of the event on the wire; NULL: no event */
	const struct type *(*fields)(void); /* of the event; NULL: none */
	const char *row;		    /* type of the row in the stream */
	const char *actor;
	const char *effect; /* type of the effect; NULL: none */
	const struct type *(*payload)(
		void); /* of row and effect; NULL: an empty object */
};

/* Items that every machine has. */
enum { ITEM_CREATED, ITEM_REFUSED, ITEM_TICK, ITEM_FIRST_OWN };

enum machine_request_kind {
	MACHINE_REQUEST_CONTROL,   /* score one answer */
	MACHINE_REQUEST_COVERAGE,  /* judge what a section's answers cover */
	MACHINE_REQUEST_ASSISTANT, /* answer a query of the candidate */
};

/* A question to the model that is open. The engine asks it, again after a crash, and
 * brings the answer as an event with facts.requestSeq. */
struct machine_request {
	enum machine_request_kind kind;
	int64_t seq; /* the event that it is about */
	int attempt; /* from 1 */
};

/* What a machine takes from the settings when its config says nothing. */
struct machine_defaults {
	int64_t timebox_ms;
	int64_t zero_run_limit;
	int64_t project_cap;
	int64_t idle_timeout_ms;
	int64_t max_idle_ms;
	int64_t stale_output_ms;
	struct str timezone; /* of the computer */
};

/* For whom and when a state is shown. */
struct machine_view {
	struct str id;
	int64_t cursor;
	int64_t now_ms; /* on the machine's clock */
	struct guard_facts facts;
};

struct machine {
	enum guard_kind kind;
	int rules; /* the newest revision; every older one is still understood */
	enum machine_clock clock;
	size_t state_size;
	const struct machine_item_info *items;
	int item_count;

	/* Writes the initial state. 0, or -EINVAL with *error naming the field of
	 * "config", the value and the rule. */
	int (*create)(yyjson_val *config, const struct machine_defaults *defaults,
		struct arena *arena, void *state, struct proto_error *error);
	/* Appends every constant as JSON: what `create` needs to make the same state
	 * again. */
	void (*config)(const void *state, struct buf *out);
	/* Takes one event, ITEM_CREATED as the first. 0, or -EPERM with out->refusal and
	 * an unchanged state. */
	int (*step)(
		void *state, const struct machine_event *event, struct machine_out *out);
	/* When the next tick is due; MACHINE_NEVER for none. */
	int64_t (*deadline)(const void *state);
	/* Appends the state for clients. */
	void (*render)(
		const void *state, const struct machine_view *view, struct buf *out);
	/* Appends everything that is in the state besides the constants; `load` reads it
	 * back into a state that `create` made. 0, or -EINVAL when it is not of this
	 * machine or of these rules. */
	void (*save)(const void *state, struct buf *out);
	int (*load)(yyjson_val *snapshot, struct arena *arena, void *state,
		struct proto_error *error);
	/* Optional. Open questions to the model, oldest first; returns how many. */
	int (*requests)(
		const void *state, struct machine_request out[MACHINE_MAX_REQUESTS]);
	/* Optional. The time zone and the hours of the quota window that facts.window…
	 * must be of when `event` (NULL: a look at the state) is applied. */
	void (*window)(const void *state, const struct machine_event *event,
		struct str *timezone, int *hours);
	/* Optional. Finds out facts about a new event that are kept with it, so that a
	 * replay does not depend on tables that may change. */
	void (*examine)(const void *state, struct machine_event *event);
};

/* The item of an event type on the wire, or -1. `flags`: which senders are allowed. */
int machine_event_type(const struct machine *m, struct str type, unsigned flags);
/* The item whose row has this type and whose event may stand first in a step, or -1. */
int machine_row_event(const struct machine *m, struct str row);

/*
 * Takes an event after checking what holds for all machines. 0; -EPERM refused
 * (out->refusal); -ETIME a tick is due before it, or a tick came before its time; -EINVAL
 * time ran backwards. The state is unchanged on failure.
 */
int machine_step(const struct machine *m, void *state, const struct machine_event *event,
	struct machine_out *out) __attribute__((warn_unused_result));

/* ---- for machines ---- */

/* Adds a row and returns its payload, zeroed. */
void *machine_add(struct machine_out *out, const struct machine *m, int type);
/* Adds a row whose payload stands elsewhere (the event's fields), NULL for none. */
void machine_add_ref(struct machine_out *out, int type, const void *payload);
/* Refuses the event: returns -EPERM. `reason` is static text that completes "not allowed:
 * …". */
int machine_refuse(struct machine_out *out, const char *reason);
/* Text or a list of texts that lives as long as `out`. Cut when there is no room left. */
struct str machine_text(struct machine_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct str *machine_strings(struct machine_out *out, size_t count);
/* The items that every machine has, for its table: see enum above. */
#define MACHINE_COMMON_ITEMS(created_row, refused_row, tick_row, tick_payload)           \
	[ITEM_CREATED] = {.row = created_row,                                            \
		.actor = "system",                                                       \
		.payload = guard_row_created_type},                                      \
	[ITEM_REFUSED] = {.row = refused_row,                                            \
		.actor = "system",                                                       \
		.payload = guard_row_refused_type},                                      \
	[ITEM_TICK] = {.flags = ITEM_ENGINE,                                             \
		.event = "tick",                                                         \
		.row = tick_row,                                                         \
		.actor = "system",                                                       \
		.payload = tick_payload}

/* The others, from a line of its .def: ITEM(symbol, ...) is [symbol] = MACHINE_ITEM(...).
 */
#define MACHINE_ITEM(flags_, event_, fields_, row_, actor_, effect_, payload_)           \
	{                                                                                \
		.flags = flags_, .event = event_, .fields = fields_##_type, .row = row_, \
		.actor = actor_, .effect = effect_, .payload = payload_##_type           \
	}

/* "4:00": minutes unpadded, seconds in two digits, the floor of what is left, never below
 * zero (G9). */
#define MACHINE_CLOCK_TEXT 24
void machine_minutes(int64_t left_ms, char out[MACHINE_CLOCK_TEXT]);
