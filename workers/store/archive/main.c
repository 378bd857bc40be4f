/* main.c - paige-archive, which paigectl runs for what needs SQLite (archive.h). Says what is wrong, or what came, on standard output. */
#include "common/base/file_io.h"
#include "workers/store/archive/archive.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *name;
	int (*run)(const char *from, const char *to, struct error_text *problem);
} commands[] = {
	{"pack", archive_pack},
	{"unpack", archive_unpack},
	{"check", archive_check},
	{"rows", archive_rows},
};

int main(int argc, char **argv)
{
	struct error_text problem = {0};

	file_fill_standard();
	umask(077);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (argc != 4 || strcmp(argv[1], commands[i].name) != 0)
			continue;
		int result = commands[i].run(argv[2], argv[3], &problem);

		if (problem.text[0])
			puts(problem.text);
		return result == 0 ? 0 : 1;
	}
	fputs("paige-archive is started by paigectl. Run paigectl export, import or "
	      "restore instead; see paigectl(1).\n",
		stderr);
	return 64;
}
