// Package decimal compares numbers of JSON exactly, as texts: 9007199254740993 is larger than
// 9007199254740992, and 0.1 equals 1e-1. The work is bounded by MaxDigits, whatever the numbers are.
package decimal

import (
	"cmp"
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
	digits   string // as written from the first digit that is not 0, perhaps with a point
	exponent int
}

// Parse returns the number in the text, a number of JSON. ok is false past the bounds.
func Parse(text string) (d Decimal, ok bool) {
	sign := 1
	if text, ok = strings.CutPrefix(text, "-"); ok {
		sign = -1
	}
	end, point, digits, leading := 0, -1, 0, -1
	for ; end < len(text) && text[end] != 'e' && text[end] != 'E'; end++ {
		if text[end] == '.' {
			point = digits
			continue
		}
		if digits == MaxDigits {
			return Decimal{}, false
		}
		if leading < 0 && text[end] != '0' {
			leading, d.digits = digits, text[end:]
		}
		digits++
	}
	exponent := 0
	if end < len(text) {
		if exponent, ok = exponentOf(text[end+1:]); !ok {
			return Decimal{}, false
		}
	}
	if leading < 0 {
		return Decimal{}, true
	}
	if point < 0 {
		point = digits
	}
	d.sign, d.exponent, d.digits = sign, exponent+point-leading, d.digits[:len(d.digits)-(len(text)-end)]
	return d, true
}

// exponentOf returns the number after the e.
func exponentOf(text string) (n int, ok bool) {
	sign := 1
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	if len(text) > MaxDigits {
		return 0, false
	}
	for i := range len(text) {
		if n = 10*n + int(text[i]-'0'); n > MaxExponent {
			return 0, false
		}
	}
	return sign * n, true
}

// Compare returns -1, 0 or 1 for a number that is less than, equal to or greater than the other.
func (d Decimal) Compare(other Decimal) int {
	if d.sign != other.sign || d.sign == 0 {
		return cmp.Compare(d.sign, other.sign)
	}
	if d.exponent != other.exponent {
		return d.sign * cmp.Compare(d.exponent, other.exponent)
	}
	for i, j := 0, 0; i < len(d.digits) || j < len(other.digits); i, j = i+1, j+1 {
		var a, b byte
		a, i = digit(d.digits, i)
		b, j = digit(other.digits, j)
		if a != b {
			return d.sign * cmp.Compare(a, b)
		}
	}
	return 0
}

// digit returns the digit at the place or after the point there, and its place; 0 past the end.
func digit(digits string, at int) (byte, int) {
	if at < len(digits) && digits[at] == '.' {
		at++
	}
	if at >= len(digits) {
		return '0', at
	}
	return digits[at], at
}
