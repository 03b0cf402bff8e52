package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// price is the number of steps for a value that subschemas apply to, without what is inside the
// value.
type price struct {
	subschemas int
	values     int // of enum and const
	numbers    int // computations with the value as an exact fraction, if the value is a number
}

func priceOf(subs ...*jsonschema.Schema) (p price) {
	for _, s := range subs {
		if s == nil {
			continue
		}
		p.subschemas++
		if s.Enum != nil {
			p.values += size(s.Enum.Values)
			p.numbers += len(s.Enum.Values)
		}
		if s.Const != nil {
			p.values += size(*s.Const)
			p.numbers++
		}
		if s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil {
			p.numbers++
		}
		if s.MultipleOf != nil {
			p.numbers += 2
		}
		if s.Types != nil && slices.Contains(s.Types.ToStrings(), "integer") {
			p.numbers++
		}
	}
	return p
}

// of returns the steps for the value.
func (p price) of(v any) int {
	return p.subschemas + p.values + p.numbers*digits(v)
}

// fraction is the number of steps to convert a short number to an exact fraction.
const fraction = 2

// digits returns the steps of one computation with a number; 0 for any other value.
func digits(v any) int {
	n, ok := v.(json.Number)
	if !ok {
		return 0
	}
	exponent := 0
	if i := strings.IndexAny(n.String(), "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(n.String()[i+1:]) // fits has checked the exponent
	}
	return fraction + (len(n)+max(exponent, -exponent))/16
}

// size returns the steps of comparing a value with v.
func size(v any) int {
	n := 1 + digits(v)
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			n += size(value)
		}
	case []any:
		for _, value := range v {
			n += size(value)
		}
	}
	return n
}
