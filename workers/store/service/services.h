/*
 * services.h - the handlers of the store's methods in proto/catalogue/methods.def, declared.
 */
#pragma once

struct store;
struct call;

#define STORE_METHOD(symbol, name, handler, ...)                                         \
	int handler(struct store *store, struct call *call);
#include "proto/catalogue/methods.def"
