/* Tests of workers/guard-engine/phrases/solicitation.h: what asks for code, and what only talks
 * about it. */
#include "tests/check_run.h"
#include "workers/guard-engine/phrases/solicitation.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const soliciting[] = {
	/* asks */
	"Let's move on to coding: implement a function that reverses a linked list.",
	"Could you write a function in Python that finds duplicates?",
	"Please open the editor and implement binary search.",
	"Now I would like you to code a solution to this problem.",
	"Shall we start the coding exercise?",
	"Write a function that returns the sum of two numbers.",
	"Implement an LRU cache.",
	"OK, great. Now implement it, please.",
	"Thanks, that helps! Can you write some code for it?",
	"Could you please just sketch out a small class for that?",
	"Would you mind writing... no, simply code it up for me.",
	"I'd like you to implement quicksort.",
	"I would love you to write a short script that does this.",
	("I\xE2\x80\x99"
	 "d like you to write a program."),
	"Go ahead and implement that.",
	"Feel free to write pseudocode.",
	"Could you do that in Python?",
	"Could you show me that in pseudocode?",
	"Can you express this in SQL?",
	"Please switch to the editor now.",
	"Reverse a linked list.",
	"Your task is to merge two sorted arrays.",
	"Given an array of integers, return the two numbers that add up to a target.",
	"How would you code this?",
	"How would you write that in Java?",
	"How would you go about implementing a rate limiter?",
	"How would you reverse a linked list?",
	"I was wondering if you could implement a small parser.",
	"Why don't you write a unit test for it?",
	"So, please code the algorithm.",
	"Would you like to write the function for me now?",
	"Can you implement that for us?",
	"Refactor this class, please.",
	"Let's implement it.",
	"lets code something",
	"Are you ready to implement it?",
	"PLEASE WRITE A FUNCTION!",
	"Good. Then write down the algorithm.",
	/* offers */
	"Would you be up for a quick coding task?",
	"Are you ready for the programming challenge?",
	"How about some live coding?",
	"We could do a small coding exercise if you like.",
	"I have a little puzzle for you.",
	"I've got a coding problem prepared.",
	"Let me know when, and we can start coding.",
	"Let's try a short exercise.",
	"Let's jump into coding.",
	"Shall we do some programming?",
	"I'd love to see you code.",
	"I would like to see how you would code that.",
	"Would you be interested in a technical exercise?",
	"Let's warm up with a small problem.",
	"Do you want to try a LeetCode problem?",
	"We can now switch to coding.",
	"It's time for the coding interview.",
	"Let's code!",
	"Ready to code?",
	"I can see the time, so let's get started with the coding challenge.",
	/* hints and other wordings */
	"Next up is the coding section.",
	"In a moment we'll begin the coding part.",
	"After this there will be a short coding exercise.",
	"Soon you will be asked to code.",
	"I'll have you write some code.",
	"You'll get a chance to code later.",
	"Moving to the next stage, we will proceed to the coding phase.",
	"We'll look at a whiteboard problem next.",
};

static const char *const innocent[] = {
	"Tell me about a challenging project you worked on.",
	"What trade-offs did you weigh in that system?",
	"How did your team agree on that change?",
	"What would you do differently today?",
	"Which part of the project was the hardest for you?",
	"Would you like to share another challenging project you worked on?",
	"Did you write the code yourself?",
	"How did you implement the function?",
	"You mentioned you wrote a function in Python. What was hard about it?",
	"What made you decide to implement binary search?",
	"Tell me about the coding exercise you did back then.",
	"Would you like to tell me more about the code you wrote?",
	"What language did you write it in?",
	"Walk me through how you wrote the parser.",
	"Did you have to code under time pressure?",
	"Could you describe the code review process your team used?",
	"Could you describe how you implemented the cache?",
	"Can you explain the algorithm you wrote?",
	"Could you explain why you chose to implement it in Go?",
	"When did you start coding?",
	"How long have you been programming?",
	"Code reviews can be tough. How did you handle them?",
	"Code quality seems to matter to you. Where does that come from?",
	"I'd like to hear about a coding challenge you faced.",
	"Here is a question: tell me about a coding challenge you solved.",
	"Was there a coding problem that you had to start over?",
	"Can you walk me through the architecture?",
	"How did the team find the bug?",
	"What did the first implementation look like?",
	"Why did you rewrite the service in Rust?",
	"Who reviewed the function that broke in production?",
	"What was the challenge in that project?",
	"How about the biggest challenge of that project?",
	"Please describe the data structure that you chose.",
	"Could you tell me which algorithm you picked, and why?",
	"Let's talk about how you tested it.",
	"Can you remember how the program behaved under load?",
	"What did you learn from implementing it?",
	"Could you share what the script did?",
	"Could you give me an example of a disagreement in the team?",
	"Please tell me how you wrote the query.",
	"How did you go about debugging it?",
	"It sounds like the parser was the core of it. What broke first?",
	"You said the class was too large. How did you notice?",
	"Let's go back to your project. How did the migration go?",
	"Can you give me more detail on the rollout?",
	"What role did you play when the team implemented the search?",
	"I'd like to understand how the code was deployed.",
	"Would you say that the solution held up?",
	"Could you elaborate on the constraints you had?",
	"How did you balance speed and quality?",
	"Which exercise in that course taught you most?",
	"That is a good solution. What happened then?",
	"I see. And how did users react to the program?",
	"Writing code for a living is one thing; what do you enjoy about it?",
	("Do you prefer to write tests before or after, and what did that project teach "
	 "you?"),
	"What was your part in the project, and what was the team's?",
	"Did you return to that problem later?",
	"When you found duplicates in the data, what did you do?",
	"",
	"   ...   ",
	"'''''",
};

START_TEST(test_soliciting)
{
	ck_assert_msg(solicitation_find(str_of(soliciting[_i])) != NULL, "passes: %s",
		soliciting[_i]);
}
END_TEST

START_TEST(test_innocent)
{
	const char *found = solicitation_find(str_of(innocent[_i]));

	ck_assert_msg(found == NULL, "is taken for %s: %s", found, innocent[_i]);
}
END_TEST

/* The longest message, made of words that fit everywhere, is checked in bounded time. */
START_TEST(test_long)
{
	static char text[16384];
	static const char *const words[] = {
		"please now ", "try to ", "let's ", "a ", "the "};
	struct timespec before, after;
	double ms;

	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		size_t len = strlen(words[w]);

		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = words[w][i % len];
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
		ck_assert_ptr_null(solicitation_find((struct str){text, sizeof(text)}));
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
		ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
		     (double)(after.tv_nsec - before.tv_nsec) / 1e6;
		ck_assert_msg(ms < 1000, "\"%s\" again and again: %.0f ms", words[w], ms);
	}
}
END_TEST

/* Any bytes will do. */
START_TEST(test_bytes)
{
	char text[300];
	unsigned seed = 7;

	for (int round = 0; round < 2000; round++) {
		size_t len = (size_t)round % sizeof(text);

		for (size_t i = 0; i < len; i++) {
			seed = seed * 1103515245u + 12345u;
			text[i] = (char)(seed >> 16);
		}
		(void)solicitation_find((struct str){text, len});
	}
	ck_assert_ptr_nonnull(
		solicitation_find(STR_LIT("\xff\xe2\x80. Please implement it")));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("all");

	check_add_table(tcase, test_soliciting, soliciting);
	check_add_table(tcase, test_innocent, innocent);
	tcase_add_test(tcase, test_long);
	tcase_add_test(tcase, test_bytes);
	tcase_set_timeout(tcase, 60);
	return check_run(tcase);
}
