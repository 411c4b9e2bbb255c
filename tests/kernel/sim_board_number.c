// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the values that are written to an attribute. An attribute that shows a number accepts
 * numbers with the same unit and decimals, within the limits of another attribute ("[min step
 * max]" or a list). Others accept any text.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/string.h>

#include "sim_board.h"

#define MAX_DECIMALS	12

struct sim_number {
	s64 value;			/* in units of the last decimal */
	unsigned int decimals;
	const char *rest;		/* text after the number */
};

/* Reads a number and truncates it to the given decimals. Returns -EINVAL if there is no number. */
static int sim_number_read(const char *text, unsigned int decimals, struct sim_number *number)
{
	bool negative = *text == '-', digits = false;
	unsigned int taken = 0;

	if (*text == '-' || *text == '+')
		text++;
	number->value = 0;
	number->decimals = 0;
	for (; isdigit(*text); text++, digits = true)
		if (check_mul_overflow(number->value, 10LL, &number->value) ||
		    check_add_overflow(number->value, (s64)(*text - '0'), &number->value))
			return -ERANGE;
	if (*text == '.' && digits)
		for (text++; isdigit(*text); text++, number->decimals++)
			if (taken < decimals && ++taken)
				number->value = number->value * 10 + (*text - '0');
	for (; taken < decimals; taken++)
		if (check_mul_overflow(number->value, 10LL, &number->value))
			return -ERANGE;
	if (negative)
		number->value = -number->value;
	number->rest = text;
	return digits ? 0 : -EINVAL;
}

/* Returns whether the text is empty or a unit, such as " dB". */
static bool sim_is_unit(const char *text)
{
	if (!*text)
		return true;
	if (*text++ != ' ' || !isalpha(*text))
		return false;
	while (isalpha(*text))
		text++;
	return !*text;
}

static bool sim_is_number(const char *text, struct sim_number *number)
{
	return !sim_number_read(text, 0, number) && sim_is_unit(number->rest) &&
	       number->decimals <= MAX_DECIMALS;
}

static int sim_number_print(const struct sim_number *number, unsigned int decimals,
			    const char *unit, char *out, size_t size)
{
	u64 magnitude = abs(number->value), power = 1;
	unsigned int i;

	for (i = 0; i < decimals; i++)
		power *= 10;
	if (!decimals)
		return scnprintf(out, size, "%lld%s", number->value, unit);
	return scnprintf(out, size, "%s%llu.%0*llu%s", number->value < 0 ? "-" : "",
			 div64_u64(magnitude, power), (int)decimals,
			 magnitude - div64_u64(magnitude, power) * power, unit);
}

/*
 * Applies the limits "[min step max]". Rounds to the nearest step, as drivers do. Returns -EINVAL
 * outside of the limits.
 */
static int sim_number_range(struct sim_number *number, const char *limits, unsigned int decimals)
{
	struct sim_number min, step, max;
	s64 steps;

	if (sim_number_read(limits + 1, decimals, &min) || *min.rest != ' ' ||
	    sim_number_read(min.rest + 1, decimals, &step) || *step.rest != ' ' ||
	    sim_number_read(step.rest + 1, decimals, &max))
		return 0; /* the limits have another syntax */
	if (number->value < min.value || number->value > max.value)
		return -EINVAL;
	if (step.value > 1) {
		steps = div64_s64(number->value - min.value + step.value / 2, step.value);
		number->value = min_t(s64, min.value + steps * step.value, max.value);
	}
	return 0;
}

/* Finds the word of the list that equals the wanted value, as text or as a number. */
static int sim_word_of(const char *limits, const char *wanted, char *out, size_t size)
{
	struct sim_number number, other;
	bool numeric = sim_is_number(wanted, &number) &&
		       !sim_number_read(wanted, MAX_DECIMALS / 2, &number);
	size_t length;

	for (; *limits; limits += length) {
		limits += strspn(limits, " ");
		length = strcspn(limits, " ");
		if (!length || length >= size)
			continue;
		memcpy(out, limits, length);
		out[length] = 0;
		if (!strcmp(out, wanted))
			return 0;
		if (numeric && !sim_number_read(out, MAX_DECIMALS / 2, &other) && !*other.rest &&
		    other.value == number.value)
			return 0;
	}
	return -EINVAL;
}

static unsigned int sim_decimals_of(const char *text)
{
	unsigned int most = 0;

	while ((text = strchr(text, '.'))) {
		unsigned int count = 0;

		for (text++; isdigit(*text); text++)
			count++;
		most = max(most, count);
	}
	return min_t(unsigned int, most, MAX_DECIMALS);
}

/*
 * Sets `out` to the text that an attribute with the text `old` has after `wanted` was written, or
 * returns an error.
 */
int sim_board_fit(const char *old, const char *limits, const char *wanted, char *out, size_t size)
{
	bool range = limits && *limits == '[';
	struct sim_number was, number;
	unsigned int decimals;
	int ret = 0;

	if (limits && !range && *limits)
		return sim_word_of(limits, wanted, out, size);
	if (!sim_is_number(old, &was))
		return strscpy(out, wanted, size) < 0 ? -EINVAL : 0;
	decimals = max(was.decimals, range ? sim_decimals_of(limits) : 0);
	if (sim_number_read(wanted, decimals, &number) || (!decimals && number.decimals) ||
	    (*number.rest && strcmp(number.rest, was.rest)))
		return -EINVAL;
	if (range)
		ret = sim_number_range(&number, limits, decimals);
	sim_number_print(&number, decimals, was.rest, out, size);
	return ret;
}
