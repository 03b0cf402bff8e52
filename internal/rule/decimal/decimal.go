// Package decimal compares numbers of JSON exactly, as texts: 9007199254740993 is larger than
// 9007199254740992, and 0.1 equals 1e-1. The work is bounded by MaxDigits, whatever the numbers are.
package decimal

import (
	"cmp"
	"strconv"
	"strings"
)

// Bounds of a number that can be compared, also listed in docs/limits.md.
const (
	MaxDigits   = 40  // as written, without the exponent
	MaxExponent = 400 // as written, of either sign
)

// Decimal is a number: sign x 0.d1d2d3... x 10^exponent. The zero Decimal is 0.
type Decimal struct {
	sign     int    // -1, 0 or 1
	digits   string // from the first to the last that is not 0
	exponent int
}

// Parse returns the number in the text, a number of JSON. ok is false past the bounds.
func Parse(text string) (d Decimal, ok bool) {
	text, negative := strings.CutPrefix(text, "-")
	end := 0
	for end < len(text) && end <= MaxDigits && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	digits, exponent, fraction := text[:end], 0, ""
	if end < len(text) { // few numbers have more, and hostile payloads have many numbers
		mantissa, written, scaled := strings.Cut(text, "e")
		if !scaled {
			mantissa, written, scaled = strings.Cut(text, "E")
		}
		if scaled {
			var err error
			exponent, err = strconv.Atoi(written)
			if err != nil || len(written) > MaxDigits || exponent < -MaxExponent || exponent > MaxExponent {
				return Decimal{}, false
			}
		}
		digits, fraction, _ = strings.Cut(mantissa, ".")
	}
	if len(digits)+len(fraction) > MaxDigits {
		return Decimal{}, false
	}
	digits = strings.TrimLeft(digits+fraction, "0")
	if digits == "" {
		return Decimal{}, true
	}
	d = Decimal{sign: 1, digits: strings.TrimRight(digits, "0"), exponent: exponent + len(digits) - len(fraction)}
	if negative {
		d.sign = -1
	}
	return d, true
}

// Compare returns -1, 0 or 1 for a number that is less than, equal to or greater than the other.
func (d Decimal) Compare(other Decimal) int {
	switch {
	case d.sign != other.sign:
		return cmp.Compare(d.sign, other.sign)
	case d.exponent != other.exponent:
		return d.sign * cmp.Compare(d.exponent, other.exponent)
	}
	return d.sign * strings.Compare(d.digits, other.digits)
}
