/*
 * paige-proto.c - prints what is derived from the catalogues: JSON Schema, TypeScript,
 * reference pages.
 *
 * Used by people, by the build of the Electron client and by the test that keeps
 * proto/docs/ up to date. It talks to nobody and reads nothing but the directory it is
 * told to check.
 */
#include "common/base/alloc.h"
#include "common/base/file_io.h"
#include "proto/generate/reference.h"
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yyjson.h>

#define EXIT_USAGE 2
#define MAX_FILE_BYTES (16u * 1024 * 1024)

static const char help[] =
	"usage: paige-proto COMMAND\n\n"
	"  schema [NAME]    print the JSON Schema of everything, or of one\n"
	"                   message, tool, method, action or type\n"
	"  dts              print TypeScript declarations for clients\n"
	"  markdown [PAGE]  print all reference pages, or one of:";
static const char help_rest[] =
	"\n  write DIR        write the reference and the declarations into DIR\n"
	"  check DIR        print which files in DIR are out of date\n\n"
	"Exit codes: 0 done, 1 out of date or not written, 2 wrong command line.\n";

#define HELP_PAGES_IN_LINE 5

static void print_help(FILE *to)
{
	fputs(help, to);
	for (size_t i = 0; i < reference_file_count; i++)
		if (reference_files[i].title)
			fprintf(to, "%s %.*s",
				i % HELP_PAGES_IN_LINE ? "" : "\n                  ",
				(int)(strlen(reference_files[i].name) - 3),
				reference_files[i].name);
	fputs(help_rest, to);
}

static int usage(const char *problem, const char *what)
{
	fprintf(stderr, "paige-proto: %s%s\nTry 'paige-proto --help'.\n", problem, what);
	return EXIT_USAGE;
}

static int print(const struct buf *out)
{
	if (fwrite(out->data, 1, out->len, stdout) != out->len || fflush(stdout) != 0) {
		fprintf(stderr, "paige-proto: standard output cannot be written: %s\n",
			strerror(errno));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* The whole file, with its title and where it comes from. */
static void make_file(const struct reference_file *file, struct buf *out)
{
	if (file->title)
		buf_printf(out, "# %s\n\n<!-- Made by paige-proto; do not edit. -->\n\n",
			file->title);
	file->write(out);
	while (out->len > 1 && out->data[out->len - 1] == '\n' &&
		out->data[out->len - 2] == '\n')
		out->len--;
}

static int schema(const char *name)
{
	AUTO_BUF out = {0};
	AUTO_DOC *doc = NULL;
	AUTO_FREE char *text = NULL;

	if (!name)
		schema_write_all(&out);
	else if (schema_write_named(str_of(name), &out) < 0)
		return usage("there is no message, tool, method, action or type called ",
			name);
	doc = yyjson_read(out.data, out.len, 0);
	text = doc ? yyjson_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL) : NULL;
	buf_clear(&out);
	if (!text) {
		fputs("paige-proto: the schema is no JSON; this is a fault of the "
		      "program\n",
			stderr);
		return EXIT_FAILURE;
	}
	buf_printf(&out, "%s\n", text);
	return print(&out);
}

static int dts(const char *argument)
{
	AUTO_BUF out = {0};

	if (argument)
		return usage("dts takes no argument, not ", argument);
	dts_write(&out);
	return print(&out);
}

static bool is_page(const struct reference_file *file, const char *page)
{
	size_t len = strlen(file->name);

	if (!file->title)
		return false;
	return !page || strcmp(page, file->name) == 0 ||
	       (strlen(page) == len - 3 && strncmp(page, file->name, len - 3) == 0);
}

static int markdown(const char *page)
{
	AUTO_BUF out = {0};

	for (size_t i = 0; i < reference_file_count; i++) {
		if (!is_page(&reference_files[i], page))
			continue;
		if (out.len > 0)
			buf_add_char(&out, '\n');
		make_file(&reference_files[i], &out);
	}
	if (out.len == 0)
		return usage("there is no page called ", page);
	return print(&out);
}

static int write_file(int dir, const char *name, const struct buf *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error;

	if (fd < 0)
		return -errno;
	error = file_write_all(fd, buf_str(text));
	if (close(fd) < 0 && error == 0)
		error = -errno;
	return error;
}

static int write_one(int dir, const struct reference_file *file, const struct buf *made)
{
	int result = write_file(dir, file->name, made);

	if (result == 0)
		return EXIT_SUCCESS;
	fprintf(stderr, "paige-proto: %s cannot be written: %s\n", file->name,
		strerror(-result));
	return EXIT_FAILURE;
}

static int check_one(int dir, const struct reference_file *file, const struct buf *made)
{
	AUTO_BUF there = {0};
	int result = file_read_named(dir, file->name, MAX_FILE_BYTES, &there);
	bool same = result == 0 && str_eq(buf_str(&there), buf_str(made));

	if (same)
		return EXIT_SUCCESS;
	if (result < 0)
		fprintf(stderr, "paige-proto: %s cannot be read: %s\n", file->name,
			strerror(-result));
	else
		fprintf(stderr,
			"paige-proto: %s is out of date; run 'ninja -C build "
			"proto-docs'\n",
			file->name);
	return EXIT_FAILURE;
}

static int each_file(const char *path,
	int (*one)(int, const struct reference_file *, const struct buf *))
{
	AUTO_FD dir = -1;
	int result = EXIT_SUCCESS;

	if (!path)
		return usage("which directory?", "");
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		fprintf(stderr, "paige-proto: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < reference_file_count; i++) {
		AUTO_BUF made = {0};

		make_file(&reference_files[i], &made);
		if (one(dir, &reference_files[i], &made) != EXIT_SUCCESS)
			result = EXIT_FAILURE;
	}
	return result;
}

static int run(const char *command, const char *argument)
{
	if (strcmp(command, "schema") == 0)
		return schema(argument);
	if (strcmp(command, "dts") == 0)
		return dts(argument);
	if (strcmp(command, "markdown") == 0)
		return markdown(argument);
	if (strcmp(command, "write") == 0)
		return each_file(argument, write_one);
	if (strcmp(command, "check") == 0)
		return each_file(argument, check_one);
	return usage("there is no command ", command);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option != 'h')
			return EXIT_USAGE;
		print_help(stdout);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	if (optind == argc)
		return usage("what shall be printed?", "");
	if (argc - optind > 2)
		return usage("too many arguments: ", argv[optind + 2]);
	return run(argv[optind], optind + 1 < argc ? argv[optind + 1] : NULL);
}
