package table

import (
	"cmp"
	"math"
	"strconv"
)

// DynamoDB takes a number in many forms, and returns its normal form. This table takes the normal form
// alone, of whole numbers of 64 bits and of floats: equal numbers have equal texts.

// whole returns a whole number of 64 bits.
func whole(text string) (n int64, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == text
}

// checkNumber returns an error for a number that the table does not take.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-data-types
func checkNumber(text string) error {
	if _, ok := whole(text); ok {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	inRange := math.Abs(f) >= 1e-130 && math.Abs(f) < 1e126
	if err != nil || !inRange || strconv.FormatFloat(f, 'f', -1, 64) != text {
		return invalid("this table does not support the number %q: it takes whole numbers of 64 bits and floats, in their shortest decimal form", text)
	}
	return nil
}

// compareNumbers orders two numbers.
func compareNumbers(a, b string) int {
	n, ok := whole(a)
	m, ok2 := whole(b)
	if ok && ok2 {
		return cmp.Compare(n, m)
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y)
}

// plus returns a + b.
func plus(a, b string) (string, error) {
	n, ok := whole(a)
	m, ok2 := whole(b)
	sum := n + m
	if overflow := (sum > n) != (m > 0) && m != 0; !ok || !ok2 || overflow {
		return "", invalid("this table adds whole numbers of 64 bits, and not %s and %s", a, b)
	}
	return strconv.FormatInt(sum, 10), nil
}
