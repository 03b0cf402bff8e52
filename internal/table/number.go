package table

import (
	"cmp"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits is the precision of numbers in significant digits.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html#limits-data-types
const maxDigits = 38

// small returns the number of a short whole text: the common case.
func small(text string) (n int64, ok bool) {
	if len(text) > 17 {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// exact returns the number; false: the text is no number.
func exact(text string) (*big.Rat, bool) {
	if strings.ContainsAny(text, "/xXoObBpP_") || len(text) > 400 { // Rat takes more forms than DynamoDB
		return nil, false
	}
	if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found {
		if n, err := strconv.Atoi(exponent); err != nil || n < -400 || n > 400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// compareNumbers orders two numbers.
func compareNumbers(a, b string) int {
	n, ok := small(a)
	m, ok2 := small(b)
	if ok && ok2 {
		return cmp.Compare(n, m)
	}
	x, ok := exact(a)
	y, ok2 := exact(b)
	if !ok || !ok2 {
		return strings.Compare(a, b)
	}
	return x.Cmp(y)
}

// plus returns a + b.
func plus(a, b string) (string, error) {
	n, ok := small(a)
	m, ok2 := small(b)
	if ok && ok2 {
		return strconv.FormatInt(n+m, 10), nil
	}
	x, ok := exact(a)
	y, ok2 := exact(b)
	if !ok || !ok2 {
		return "", fmt.Errorf("add %q and %q: no numbers", a, b)
	}
	sum := normalRat(x.Add(x, y))
	return sum, checkNumber(sum)
}

// normal returns the number without needless zeros.
func normal(text string) string {
	if n, ok := small(text); ok {
		return strconv.FormatInt(n, 10)
	}
	x, ok := exact(text)
	if !ok {
		return text
	}
	return normalRat(x)
}

func normalRat(x *big.Rat) string {
	if x.IsInt() {
		return x.Num().String()
	}
	digits, _ := x.FloatPrec()
	return strings.TrimRight(x.FloatString(digits), "0")
}

// checkNumber returns an error for a text that DynamoDB takes for no number.
func checkNumber(text string) error {
	if _, ok := small(text); ok {
		return nil
	}
	x, ok := exact(text)
	if !ok {
		return invalid("The parameter cannot be converted to a numeric value: %s", text)
	}
	digits := strings.Trim(strings.Replace(strings.TrimPrefix(normalRat(x), "-"), ".", "", 1), "0")
	if len(digits) > maxDigits {
		return invalid("Attempting to store more than %d significant digits in a Number", maxDigits)
	}
	// 1E-130 to 9.99...E+125
	abs := new(big.Rat).Abs(x)
	if most, least := power(126), power(-130); abs.Cmp(most) >= 0 || abs.Sign() > 0 && abs.Cmp(least) < 0 {
		return invalid("Number overflow. Attempting to store a number with magnitude larger or smaller than supported range")
	}
	return nil
}

func power(exponent int) *big.Rat {
	x, _ := new(big.Rat).SetString("1e" + strconv.Itoa(exponent))
	return x
}
