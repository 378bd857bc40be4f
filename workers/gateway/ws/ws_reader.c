/* ws_reader.c - see ws_reader.h. */
#include "workers/gateway/ws/ws_reader.h"
#include <errno.h>
#include <string.h>

/* A message buffer larger than this is given back once its message was taken. */
#define KEEP_BYTES (128u * 1024)

static ssize_t take_input(uint8_t *out, size_t len, int flags, void *arg)
{
	struct ws_reader *r = arg;
	size_t used, n;

	(void)flags;
	n = ws_unmask_take(&r->unmask, r->input, r->input_len, &used, out, len);
	r->input += used;
	r->input_len -= used;
	return n > 0 ? (ssize_t)n : -1;
}

int ws_reader_init(struct ws_reader *r, size_t max_message)
{
	static const struct wslay_frame_callbacks callbacks = {
		.recv_callback = take_input};

	*r = (struct ws_reader){.max_message = max_message};
	return wslay_frame_context_init(&r->frames, &callbacks, r) == 0 ? 0 : -ENOMEM;
}

void ws_reader_fini(struct ws_reader *r)
{
	wslay_frame_context_free(r->frames);
	buf_free(&r->message);
	*r = (struct ws_reader){0};
}

void ws_reader_feed(struct ws_reader *r, const void *data, size_t len)
{
	r->input = data;
	r->input_len = len;
}

size_t ws_reader_unread(const struct ws_reader *r)
{
	return r->input_len;
}

bool ws_close_code_valid(uint16_t code)
{
	if (code >= 3000)
		return code < 5000;
	return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 &&
	       code != 1006;
}

static enum ws_event fail(
	struct ws_reader *r, struct ws_item *item, uint16_t code, const char *reason)
{
	r->finished = true;
	*item = (struct ws_item){.code = code, .reason = reason};
	return WS_FAIL;
}

/* Judges a frame by its header. NULL, or why it breaks the protocol. */
static const char *judge_header(
	const struct ws_reader *r, const struct wslay_frame_iocb *frame)
{
	if (frame->rsv)
		return "reserved bits are set";
	if (!r->unmask.masked)
		return "a client's frame is not masked";
	switch (frame->opcode) {
	case WSLAY_TEXT_FRAME:
	case WSLAY_BINARY_FRAME:
		return r->in_message ? "a new message inside a fragmented one" : NULL;
	case WSLAY_CONTINUATION_FRAME:
		return r->in_message ? NULL : "a continuation of nothing";
	case WSLAY_CONNECTION_CLOSE:
	case WSLAY_PING:
	case WSLAY_PONG:
		return NULL;
	default:
		return "a reserved opcode";
	}
}

static void start_frame(struct ws_reader *r, const struct wslay_frame_iocb *frame)
{
	r->in_frame = true;
	r->opcode = frame->opcode;
	r->fin = frame->fin;
	r->frame_left = frame->payload_length;
	if (wslay_is_ctrl_frame(frame->opcode)) {
		r->control_len = 0;
	} else if (frame->opcode != WSLAY_CONTINUATION_FRAME) {
		r->in_message = true;
		r->is_text = frame->opcode == WSLAY_TEXT_FRAME;
		r->utf8 = (struct ws_utf8){0};
		buf_clear(&r->message);
	}
}

static enum ws_event finish_close(struct ws_reader *r, struct ws_item *item)
{
	struct ws_utf8 utf8 = {0};
	uint16_t code;

	if (r->control_len == 0) {
		r->finished = true;
		*item = (struct ws_item){.code = WS_NO_STATUS};
		return WS_CLOSE;
	}
	if (r->control_len == 1)
		return fail(
			r, item, WSLAY_CODE_PROTOCOL_ERROR, "a close code of one byte");
	code = (uint16_t)(r->control[0] << 8 | r->control[1]);
	if (!ws_close_code_valid(code))
		return fail(r, item, WSLAY_CODE_PROTOCOL_ERROR, "a reserved close code");
	if (!ws_utf8_feed(&utf8, r->control + 2, r->control_len - 2) ||
		!ws_utf8_complete(&utf8))
		return fail(r, item, WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA,
			"a close reason that is not UTF-8");
	r->finished = true;
	*item = (struct ws_item){.code = code};
	return WS_CLOSE;
}

/* The frame is complete. WS_NEED_DATA means: nothing for the caller yet. */
static enum ws_event finish_frame(struct ws_reader *r, struct ws_item *item)
{
	r->in_frame = false;
	if (wslay_is_ctrl_frame(r->opcode)) {
		if (r->opcode == WSLAY_CONNECTION_CLOSE)
			return finish_close(r, item);
		*item = (struct ws_item){
			.data = {(const char *)r->control, r->control_len}};
		return r->opcode == WSLAY_PING ? WS_PING : WS_PONG;
	}
	if (!r->fin)
		return WS_NEED_DATA;
	if (r->is_text && !ws_utf8_complete(&r->utf8))
		return fail(r, item, WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA,
			"text that is not UTF-8");
	r->in_message = false;
	*item = (struct ws_item){.data = buf_str(&r->message)};
	if (!item->data.ptr)
		item->data = STR_LIT("");
	return WS_MESSAGE;
}

static bool take_payload(struct ws_reader *r, const struct wslay_frame_iocb *frame)
{
	r->frame_left -= frame->data_length;
	if (wslay_is_ctrl_frame(r->opcode)) {
		memcpy(r->control + r->control_len, frame->data, frame->data_length);
		r->control_len += frame->data_length;
		return true;
	}
	if (r->is_text && !ws_utf8_feed(&r->utf8, frame->data, frame->data_length))
		return false;
	buf_add(&r->message, frame->data, frame->data_length);
	return true;
}

struct buf ws_reader_take_message(struct ws_reader *r)
{
	struct buf message = r->message;

	r->message = (struct buf){0};
	return message;
}

enum ws_event ws_reader_next(struct ws_reader *r, struct ws_item *item)
{
	if (!r->in_message && r->message.cap > KEEP_BYTES)
		buf_free(&r->message);
	while (!r->finished) {
		struct wslay_frame_iocb frame = {0};
		ssize_t n = wslay_frame_recv(r->frames, &frame);
		enum ws_event event;
		const char *wrong;

		if (n == WSLAY_ERR_WANT_READ && r->input_len > 0)
			continue;
		if (n == WSLAY_ERR_WANT_READ)
			return WS_NEED_DATA;
		if (n < 0)
			return fail(r, item, WSLAY_CODE_PROTOCOL_ERROR,
				"a malformed frame header");
		if (!r->in_frame) {
			wrong = judge_header(r, &frame);
			if (wrong)
				return fail(r, item, WSLAY_CODE_PROTOCOL_ERROR, wrong);
			start_frame(r, &frame);
			if (!wslay_is_ctrl_frame(r->opcode) &&
				frame.payload_length > r->max_message - r->message.len)
				return fail(r, item, WSLAY_CODE_MESSAGE_TOO_BIG,
					"a message that is too big");
		}
		if (!take_payload(r, &frame))
			return fail(r, item, WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA,
				"text that is not UTF-8");
		if (r->frame_left > 0)
			continue;
		event = finish_frame(r, item);
		if (event != WS_NEED_DATA)
			return event;
	}
	return WS_NEED_DATA;
}
