package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"mime"
	"slices"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"surehook/internal/hook"
)

// plain is the content type of a body that is a text.
const plain = "text/plain; charset=utf-8"

const maxContentType = 128

// contentOf returns the content of a result: a map with "body", and perhaps "headers" and
// "content_type".
func contentOf(result ref.Val) (c Content, err error) {
	entries, err := entriesOf(result, "the result")
	if err != nil {
		return c, err
	}
	body, ok := entries["body"]
	if !ok {
		return c, errors.New("the result has no body")
	}
	c.ContentType = JSON
	if text, ok := body.(types.String); ok {
		c.Body, c.ContentType = []byte(text), plain
		if len(c.Body) > MaxBody {
			return c, errTooLarge
		}
	} else if c.Body, err = encode(body); err != nil {
		return c, fmt.Errorf("body: %w", err)
	}
	delete(entries, "body")
	if value, ok := entries["content_type"]; ok {
		if c.ContentType, err = contentTypeOf(value); err != nil {
			return c, err
		}
		delete(entries, "content_type")
	}
	if value, ok := entries["headers"]; ok {
		if c.Headers, err = headersOf(value); err != nil {
			return c, err
		}
		delete(entries, "headers")
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		return c, fmt.Errorf("the result has %q; only body, headers and content_type are known", name)
	}
	return c, nil
}

// maxEntries limits the entries of a map whose keys are read at once.
const maxEntries = 100000

// entriesOf returns the entries of a map with texts as keys.
func entriesOf(value ref.Val, what string) (map[string]ref.Val, error) {
	m, ok := value.(traits.Mapper)
	if !ok {
		return nil, fmt.Errorf("%s is %s, and must be a map", what, typeOf(value))
	}
	if size, ok := m.Size().(types.Int); !ok || size > maxEntries {
		return nil, errTooLarge
	}
	entries := make(map[string]ref.Val)
	for it := m.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		var name string
		switch k := key.(type) {
		case types.String:
			name = string(k)
		case types.Int:
			name = strconv.FormatInt(int64(k), 10)
		case types.Uint:
			name = strconv.FormatUint(uint64(k), 10)
		case types.Bool:
			name = strconv.FormatBool(bool(k))
		default:
			return nil, fmt.Errorf("%s has a key that is %s", what, typeOf(key))
		}
		if _, twice := entries[name]; twice {
			return nil, fmt.Errorf("%s has the key %q twice", what, name)
		}
		entries[name] = m.Get(key)
	}
	return entries, nil
}

func contentTypeOf(value ref.Val) (string, error) {
	text, ok := value.(types.String)
	if ok && len(text) <= maxContentType && hook.ValidHeaderValue(string(text)) {
		if _, _, err := mime.ParseMediaType(string(text)); err == nil {
			return string(text), nil
		}
	}
	return "", errors.New(`content_type must be a media type, such as "application/json"`)
}

func headersOf(value ref.Val) (map[string]string, error) {
	entries, err := entriesOf(value, "headers")
	if err != nil {
		return nil, err
	}
	headers := make(map[string]string, len(entries))
	for name, value := range entries {
		text, ok := value.(types.String)
		if !ok {
			return nil, fmt.Errorf("the header %q is %s, and must be a string", name, typeOf(value))
		}
		headers[name] = string(text)
	}
	if wrong := hook.ValidateHeaders(headers); len(wrong) > 0 {
		return nil, fmt.Errorf("%s %s", wrong[0].Field, wrong[0].Message)
	}
	return headers, nil
}

var errTooLarge = fmt.Errorf("the body has more than %d bytes", MaxBody)

// encode returns the value as JSON, with the keys of maps in their order.
func encode(value ref.Val) ([]byte, error) {
	var w writer
	if err := w.write(value, 0); err != nil {
		return nil, err
	}
	return w.text, nil
}

// writer writes JSON of at most MaxBody bytes and maxDepth levels. A value can be much
// larger than all the work that made it: its lists may contain one list many times.
type writer struct{ text []byte }

func (w *writer) write(value ref.Val, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("has more than %d levels of lists and maps", maxDepth)
	}
	switch v := value.(type) {
	case types.Null:
		w.text = append(w.text, "null"...)
	case types.Bool:
		w.text = strconv.AppendBool(w.text, bool(v))
	case types.Int:
		w.text = strconv.AppendInt(w.text, int64(v), 10)
	case types.Uint:
		w.text = strconv.AppendUint(w.text, uint64(v), 10)
	case types.Double:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("the number %v is not in JSON", float64(v))
		}
		return w.append(float64(v))
	case types.String:
		return w.append(string(v))
	case types.Timestamp:
		return w.append(stamp(v.Time))
	case traits.Mapper:
		return w.writeMap(v, depth)
	case traits.Lister:
		return w.writeList(v, depth)
	default:
		return fmt.Errorf("%s is not in JSON", typeOf(value))
	}
	return w.bounded()
}

func (w *writer) writeMap(m traits.Mapper, depth int) error {
	entries, err := entriesOf(m, "a map")
	if err != nil {
		return err
	}
	w.text = append(w.text, '{')
	for i, name := range slices.Sorted(maps.Keys(entries)) {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if err := w.append(name); err != nil {
			return err
		}
		w.text = append(w.text, ':')
		if err := w.write(entries[name], depth+1); err != nil {
			return err
		}
	}
	w.text = append(w.text, '}')
	return w.bounded()
}

func (w *writer) writeList(list traits.Lister, depth int) error {
	w.text = append(w.text, '[')
	for it, i := list.Iterator(), 0; it.HasNext() == types.True; i++ {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if err := w.write(it.Next(), depth+1); err != nil {
			return err
		}
	}
	w.text = append(w.text, ']')
	return w.bounded()
}

// append writes a text or a number.
func (w *writer) append(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // an escape takes room
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	w.text = append(w.text, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...)
	return w.bounded()
}

func (w *writer) bounded() error {
	if len(w.text) > MaxBody {
		return errTooLarge
	}
	return nil
}

func typeOf(value ref.Val) string {
	return "of type " + value.Type().TypeName()
}
