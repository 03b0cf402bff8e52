package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"surehook/internal/hook"
)

// eventOf returns the event as transformations see it.
func eventOf(event *hook.Event) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(event.Payload))
	decoder.UseNumber()
	var data any
	if err := decoder.Decode(&data); err != nil {
		return nil, fmt.Errorf("the payload is not valid JSON: %w", err)
	}
	return map[string]any{
		"id":        string(event.ID),
		"type":      event.Type,
		"timestamp": stamp(event.AcceptedAt),
		"tenant":    string(event.Tenant),
		"data":      exact(data),
	}, nil
}

// exact replaces the numbers in a value of JSON: a whole number of 64 bits stays exact. All
// others have the precision of a double.
func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		return number(string(v))
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	}
	return value
}

func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite beyond the range, which no result may be
	return f
}

// Characters and elements that cost as much as a step.
const (
	charactersPerStep = 10
	// A comprehension adds its elements one by one to a list, and pays for the list each
	// time. Lists are joined without a copy.
	elementsPerStep = 100
)

// sizeOf returns the cost of a value.
func sizeOf(value ref.Val) uint64 {
	switch v := value.(type) {
	case types.String:
		return uint64(len(v)) / charactersPerStep
	case types.Bytes:
		return uint64(len(v)) / charactersPerStep
	case traits.Sizer:
		if size, ok := v.Size().(types.Int); ok && size > 0 {
			return uint64(size) / elementsPerStep
		}
	}
	return 0
}
