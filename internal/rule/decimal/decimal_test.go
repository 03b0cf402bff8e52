package decimal_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"surehook.example/surehook/internal/rule/decimal"
)

// numbers are texts of JSON numbers, in no order.
func numbers() []string {
	return []string{
		"0", "-0", "0.0", "0e5", "1", "-1", "1.0", "10e-1", "0.1", "1e-1", "0.10", "0.01", "12", "1.2e1", "120e-1", "0.12e2", "100", "1e2", "99.99", "-99.99", "-1e2",
		"7615917337495251230", "7615917337495251231", "9007199254740992", "9007199254740993", "9007199254740993.0", "1e400", "1e-400", "-1e400", "9E+307", "1e+308",
		"0." + strings.Repeat("0", 38) + "1", strings.Repeat("9", 40), "-" + strings.Repeat("9", 40), "1" + strings.Repeat("0", 39), "1e39", "10.05", "10.5", "10.050", "1e0000000400",
	}
}

// TestCompare compares all pairs with math/big.
func TestCompare(t *testing.T) {
	t.Parallel()

	for _, a := range numbers() {
		for _, b := range numbers() {
			check(t, a, b)
		}
	}
}

func check(t *testing.T, a, b string) {
	t.Helper()

	x, okX := decimal.Parse(a)
	y, okY := decimal.Parse(b)
	p, _ := new(big.Rat).SetString(a)
	q, _ := new(big.Rat).SetString(b)
	if !okX || !okY || x.Compare(y) != p.Cmp(q) {
		t.Errorf("Compare(%s, %s) = %d, %t, %t; want %d", a, b, x.Compare(y), okX, okY, p.Cmp(q))
	}
}

func TestParse_bounds(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		strings.Repeat("9", 40): true,
		strings.Repeat("9", 41): false,
		"-" + strings.Repeat("9", 20) + "." + strings.Repeat("9", 20): true,
		"0." + strings.Repeat("0", 39) + "1":                          false,
		"1e400":                                                       true,
		"1e401":                                                       false,
		"1E-400":                                                      true,
		"1e-401":                                                      false,
		"0e401":                                                       false,
		"1e" + strings.Repeat("0", 39) + "1":                          true,
		"1e" + strings.Repeat("0", 40) + "1":                          false,
		"1e-9223372036854775808":                                      false,
		"1e99999999999999999999":                                      false,
	} {
		if _, ok := decimal.Parse(text); ok != want {
			t.Errorf("Parse(%s) = %t; want %t", text, ok, want)
		}
	}
}

// FuzzCompare compares pairs of JSON numbers with math/big.
func FuzzCompare(f *testing.F) {
	for _, text := range numbers() {
		f.Add(text, "10.05")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			var n json.Number
			if json.Unmarshal([]byte(text), &n) != nil || n.String() != text {
				return
			}
			if _, ok := decimal.Parse(text); !ok {
				return
			}
		}
		check(t, a, b)
	})
}

// BenchmarkCompare parses and compares a short number, which a hostile payload has many of, and the longest.
func BenchmarkCompare(b *testing.B) {
	for _, value := range []string{"1", strings.Repeat("9", 40)} {
		operand, _ := decimal.Parse(value)
		b.Run(fmt.Sprintf("%d digits", len(value)), func(b *testing.B) {
			for b.Loop() {
				if d, ok := decimal.Parse(value); !ok || d.Compare(operand) != 0 {
					b.Fatal("not equal")
				}
			}
		})
	}
}
