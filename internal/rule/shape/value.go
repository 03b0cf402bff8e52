package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"

	"surehook.example/surehook/internal/hook"
)

// eventOf returns the event as transformations see it.
func eventOf(event *hook.Event) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(event.Payload))
	decoder.UseNumber()
	var data any
	if err := decoder.Decode(&data); err != nil {
		return nil, errors.New("the payload is not valid JSON")
	}
	return map[string]any{
		"id":        string(event.ID),
		"type":      event.Type,
		"timestamp": stamp(event.AcceptedAt),
		"tenant":    string(event.Tenant),
		"data":      exact(data),
	}, nil
}

// exact replaces the numbers in a JSON value: whole numbers of 64 bits stay exact, and all others
// become doubles.
func exact(value any) any {
	switch v := value.(type) {
	case json.Number:
		return numberOf(string(v))
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

func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite if out of range; no result may be infinite
	return f
}
