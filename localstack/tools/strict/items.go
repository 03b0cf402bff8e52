package strict

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// item is an item or a key of DynamoDB: attribute values by name. A value is an
// object with one member, such as {"S": "text"}.
type item = object

// The limits of DynamoDB.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	maxItem         = 400 << 10 // bytes
	maxPartitionKey = 2048      // bytes
	maxSortKey      = 1024      // bytes
	maxDigits       = 38        // of a number
	maxDepth        = 32        // of lists and maps
)

// itemSize is the size of an item in bytes: names and values.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func itemSize(i item) int {
	size := 0
	for name := range i {
		size += len(name) + valueSize(i.object(name))
	}
	return size
}

func valueSize(v object) int {
	for kind, value := range v {
		switch kind {
		case "S":
			return len(v.text("S"))
		case "N":
			return numberSize(v.text("N"))
		case "B":
			return blobSize(value)
		case "SS", "NS", "BS":
			return setSize(kind, value)
		case "L":
			size := 3
			for _, e := range v.list("L") {
				size += 1 + valueSize(e)
			}
			return size
		case "M":
			m := v.object("M")
			return 3 + len(m) + itemSize(m)
		}
	}
	return 1 // NULL and BOOL
}

func numberSize(text string) int { return (digits(text)+1)/2 + 1 }

// digits counts the significant digits.
func digits(text string) int {
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	bare := strings.NewReplacer(".", "", "+", "", "-", "").Replace(mantissa)
	bare = strings.TrimLeft(bare, "0")
	if !strings.Contains(mantissa, ".") {
		bare = strings.TrimRight(bare, "0")
	}
	return len(bare)
}

func setSize(kind string, value any) int {
	items, _ := value.([]any)
	size := 0
	for _, e := range items {
		text, _ := e.(string)
		switch kind {
		case "SS":
			size += len(text)
		case "NS":
			size += numberSize(text)
		case "BS":
			size += blobSize(text)
		}
	}
	return size
}

// checkItem checks the size and the values of an item.
func checkItem(i item) *refusal {
	if size := itemSize(i); size > maxItem {
		return invalid("Item size has exceeded the maximum allowed size: %d bytes, not at most %d", size, maxItem)
	}
	return checkValues(i)
}

// checkValues checks each value by name.
func checkValues(values object) *refusal {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if r := checkValue(name, values.object(name), 1); r != nil {
			return r
		}
	}
	return nil
}

func checkValue(name string, v object, depth int) *refusal {
	if len(v) != 1 {
		return invalid("Supplied AttributeValue of %s has %d types, must contain exactly one of the supported datatypes", name, len(v))
	}
	if depth > maxDepth+1 {
		return invalid("Nesting Levels have exceeded supported limits: Attributes of nesting depth %d in %s", maxDepth, name)
	}
	for kind, value := range v {
		switch kind {
		case "N":
			return checkNumber(name, v.text("N"))
		case "SS", "NS", "BS":
			return checkSet(name, kind, value)
		case "L":
			for _, e := range v.list("L") {
				if r := checkValue(name, e, depth+1); r != nil {
					return r
				}
			}
		case "M":
			m := v.object("M")
			for key := range m {
				if r := checkValue(name+"."+key, m.object(key), depth+1); r != nil {
					return r
				}
			}
		}
	}
	return nil
}

func checkNumber(name, text string) *refusal {
	if !matches(`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`, text) {
		return invalid("The parameter cannot be converted to a numeric value: %s = %q", name, text)
	}
	if n := digits(text); n > maxDigits {
		return invalid("Attempting to store more than %d significant digits in a Number: %s has %d", maxDigits, name, n)
	}
	return nil
}

func checkSet(name, kind string, value any) *refusal {
	items, _ := value.([]any)
	if len(items) == 0 {
		return invalid("One or more parameter values were invalid: An %s may not be empty: %s", kind, name)
	}
	seen := map[any]bool{}
	for _, e := range items {
		if seen[e] {
			return invalid("One or more parameter values were invalid: Input collection %s contains duplicates: %v", name, e)
		}
		seen[e] = true
		if text, _ := e.(string); kind == "NS" {
			if r := checkNumber(name, text); r != nil {
				return r
			}
		}
	}
	return nil
}

func invalid(format string, args ...any) *refusal {
	return &refusal{code: "ValidationException", message: fmt.Sprintf(format, args...)}
}
