/*
 * token.h - DATA_DIR/token: what proves to the gateway that a client may connect when the
 * kernel cannot.
 *
 * 64 hexadecimal digits and a newline, mode 0600. Made by the first start, kept by later
 * ones, so that clients can be set up with it once.
 */
#pragma once

#define TOKEN_DIGITS 64
#define TOKEN_SIZE (TOKEN_DIGITS + 1)

/* 0; -ENOENT when there is none yet; -EPERM when others may read it or it is another
 * user's; -EINVAL when it is no token; or -errno. */
int token_read(const char *data_dir, char token[TOKEN_SIZE])
	__attribute__((warn_unused_result));
/* A new one, in the place of the old. 0 or -errno; `token` is then as it was. */
int token_make(const char *data_dir, char token[TOKEN_SIZE])
	__attribute__((warn_unused_result));
