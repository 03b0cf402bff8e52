package table

import (
	"math/big"
	"testing"
)

// FuzzNumbers holds comparisons and sums to exact arithmetic.
func FuzzNumbers(f *testing.F) {
	for _, seed := range [][2]string{
		{"0", "-0"},
		{"1", "1.5"},
		{"9223372036854775807", "1"},
		{"-9223372036854775808", "-1"},
		{"9223372036854775807", "-9223372036854775808"},
		{"9007199254740993", "9007199254740992"},
		{"0.1", "0.2"},
		{"x", "1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if checkNumber(a) != nil || checkNumber(b) != nil {
			return
		}
		x, ok := new(big.Rat).SetString(a)
		y, ok2 := new(big.Rat).SetString(b)
		if !ok || !ok2 {
			t.Fatalf("%q or %q passes for a number", a, b)
		}
		_, whole1 := whole(a)
		_, whole2 := whole(b)
		if got := compareNumbers(a, b); got != x.Cmp(y) && whole1 == whole2 {
			t.Errorf("compareNumbers(%s, %s) = %d; want %d", a, b, got, x.Cmp(y))
		}
		want := new(big.Rat).Add(x, y)
		sum, err := plus(a, b)
		if taken := whole1 && whole2 && want.Num().IsInt64(); (err == nil) != taken || taken && sum != want.Num().String() {
			t.Errorf("plus(%s, %s) = %s, %v; want %s", a, b, sum, err, want)
		}
	})
}

// FuzzParse holds the parser to three rules: it never panics, it takes every expression
// that it takes again when the words are set apart, and the error names the place.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = :b AND NOT (c.d = #e OR size(f) <= :g)", "SET a = if_not_exists(b, :c) + :d, e = list_append(f, :g) REMOVE h ADD i :j DELETE k :l",
		"pk = :pk AND begins_with(sk, :sk)", "pk = :pk AND sk BETWEEN :a AND :b", "a, b, #c", "((a = :b))", "a = size(d)", "(((((((", "NOT (NOT NOT(", "a[", "a.", "#", ":", "SET set = :a", "contains(a, :b", "\xff = :a", "é = :b",
	} {
		f.Add(seed)
	}
	grammars := []grammar{conditionExpression, updateExpression, keyExpression, projectionExpression}
	f.Fuzz(func(t *testing.T, text string) {
		words, err := lex(text)
		apart := ""
		for _, w := range words {
			apart += w.text + " "
		}
		for i, g := range grammars {
			made, err2 := parse(text, g)
			if err != nil && err2 == nil || err2 != nil && err2.Error() == "" {
				t.Fatalf("grammar %d of %q: %v, %v", i, text, err, err2)
			}
			if err2 != nil {
				continue
			}
			again, err := parse(apart, g)
			if err != nil || len(again.names) != len(made.names) || len(again.values) != len(made.values) || len(again.updates) != len(made.updates) || len(again.projection) != len(made.projection) {
				t.Fatalf("grammar %d reads %q, and not %q: %v", i, text, apart, err)
			}
			item := Item{}
			s := &scope{item: item, names: map[string]string{}, values: Item{}}
			for _, check := range made.checks {
				_ = check(s)
			}
			if made.condition != nil {
				made.condition(s)
			}
			s.apply(made.updates)
			s.projected(made.projection)
			if len(item) != 0 {
				t.Fatalf("%q changed the item before it: %v", text, item)
			}
		}
	})
}
