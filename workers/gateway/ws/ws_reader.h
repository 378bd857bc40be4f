/*
 * ws_reader.h - WebSocket messages out of received bytes (RFC 6455).
 *
 * wslay's frame API takes the frames apart; the rules between frames
 * are here: masking, reserved bits and opcodes, fragmentation, control frames, UTF-8,
 * close codes, sizes (R25 to R27). wslay's event API is not used: it
 * checks UTF-8 byte by byte, which took four fifths of the time of a large message.
 *
 * Called by ws_client.c. Does no I/O, and is the target of the frame fuzzer.
 */
#pragma once

#include "common/base/buf.h"
#include "workers/gateway/ws/ws_unmask.h"
#include "workers/gateway/ws/ws_utf8.h"
#include <wslay/wslay.h>

#define WS_CONTROL_MAX 125

enum ws_event {
	WS_NEED_DATA,
	WS_MESSAGE, /* a whole text or binary message */
	WS_PING,
	WS_PONG,
	WS_CLOSE, /* `code` is WS_NO_STATUS when the frame has none; nothing follows */
	WS_FAIL,  /* the peer broke the protocol: close with `code`; nothing follows */
};

#define WS_NO_STATUS 1005

struct ws_item {
	struct str data; /* message, or payload of a ping or pong; borrowed until the next
			    call */
	uint16_t code;	 /* of WS_CLOSE and WS_FAIL */
	const char *reason; /* of WS_FAIL; static text */
};

struct ws_reader {
	wslay_frame_context_ptr frames;
	struct ws_unmask unmask;
	const uint8_t *input; /* borrowed, from ws_reader_feed */
	size_t input_len;
	size_t max_message;
	uint64_t frame_left; /* payload bytes of the frame being read */
	bool in_frame;
	bool in_message;
	bool is_text;
	bool finished;
	uint8_t opcode; /* of the frame being read */
	bool fin;
	struct ws_utf8 utf8;
	struct buf message;
	uint8_t control[WS_CONTROL_MAX];
	size_t control_len;
};

/* 0 or -ENOMEM. */
int ws_reader_init(struct ws_reader *r, size_t max_message)
	__attribute__((warn_unused_result));
void ws_reader_fini(struct ws_reader *r);

/* Gives bytes, borrowed until ws_reader_next has answered WS_NEED_DATA. Only then may
 * more be given. */
void ws_reader_feed(struct ws_reader *r, const void *data, size_t len);

/* Bytes given and not looked at yet, for a caller that wants to go on later. */
size_t ws_reader_unread(const struct ws_reader *r);

/* The buffer of the message that ws_reader_next has just given, to be kept: the caller's
 * now. */
struct buf ws_reader_take_message(struct ws_reader *r);

enum ws_event ws_reader_next(struct ws_reader *r, struct ws_item *item);

/* Whether a peer may send this close code (RFC 6455 section 7.4 and the IANA registry).
 */
bool ws_close_code_valid(uint16_t code);
