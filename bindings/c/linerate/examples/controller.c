/* Prints the levels that a controller chooses, one per 100 ms, for a server that may use 50 % of
 * one CPU and uses first 90 %, then 10 %. */
#include "check.h"

int main(void)
{
	const uint64_t ms = 1000000;
	linerate_controller controller;
	uint64_t now = 0, cpu = 0;
	int32_t level;
	int period;

	check(linerate_controller_new(3, 50, 0, &controller));
	for (period = 0; period < 30; period++) {
		check(linerate_controller_level(controller, now, cpu, &level));
		printf("%d", (int)level);
		if (level > 0)
			check(linerate_controller_add_input(controller, 16384));
		now += 100 * ms;
		cpu += (period < 4 ? 90 : 10) * ms;
	}
	printf("\n");
	check(linerate_controller_free(controller));
	return fflush(stdout) != 0;
}
