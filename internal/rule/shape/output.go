package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/google/cel-go/common/ast"

	"surehook.example/surehook/internal/hook"
)

// Bounds of a result. docs/limits.md lists them.
const (
	MaxBody = 256 << 10 // bytes of a body
	// MaxTogether bounds what transformations make of one event for all its endpoints, in bytes:
	// each may make its share of it, or a body as large as the payload. So a small event to many
	// endpoints is not multiplied to hundreds of times what was posted.
	MaxTogether = 32 << 20

	maxDepth       = 64 // of lists and maps
	maxContentType = 128
)

// plain is the default content type of a body that is a text.
const plain = "text/plain; charset=utf-8"

// share returns the most bytes of a body that a transformation may make of the event.
func share(event *hook.Event) int {
	return max(len(event.Payload), MaxTogether/max(len(event.Targets), 1))
}

// contentOf returns the content in a result, which must be a map with "body" and optionally
// "headers" and "content_type". isText: the body is a string, and not JSON.
func (v *evaluation) contentOf(result any) (c Content, isText bool) {
	entries, ok := result.(map[string]any)
	if !ok {
		panic(wrongAt(nil, "the result is %s, and must be a map", typeOf(result)))
	}
	body, ok := entries["body"]
	if !ok {
		panic(wrongAt(nil, "the result has no body"))
	}
	for name := range entries {
		if name != "body" && name != "headers" && name != "content_type" {
			panic(wrongAt(nil, "the result has another key than body, headers and content_type")) // not naming it: the name may come from the payload
		}
	}
	text, isText := body.(string)
	if isText {
		c.Body, c.ContentType = []byte(text), plain
		if len(c.Body) > MaxBody {
			panic(wrongAt(nil, "the body has more than %d bytes", MaxBody))
		}
	} else {
		c.Body, c.ContentType = v.json(body, "body", nil), JSON
	}
	if value, ok := entries["content_type"]; ok {
		c.ContentType = contentTypeOf(value)
	}
	if value, ok := entries["headers"]; ok {
		c.Headers = headersOf(value)
	}
	return c, isText
}

func contentTypeOf(value any) string {
	text, ok := value.(string)
	if ok && len(text) <= maxContentType && hook.ValidHeaderValue(text) {
		if _, _, err := mime.ParseMediaType(text); err == nil {
			return text
		}
	}
	panic(wrongAt(nil, `content_type must be a media type, such as "application/json"`))
}

func headersOf(value any) map[string]string {
	entries, ok := value.(map[string]any)
	if !ok {
		panic(wrongAt(nil, "headers is %s, and must be a map", typeOf(value)))
	}
	headers := make(map[string]string, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text, ok := entries[name].(string)
		if !ok {
			panic(wrongAt(nil, "headers: every value must be a string, and one is %s", typeOf(entries[name])))
		}
		canonical := http.CanonicalHeaderKey(name)
		if _, twice := headers[canonical]; twice {
			panic(wrongAt(nil, "headers: two names differ in their letters only"))
		}
		headers[canonical] = text
	}
	if len(hook.ValidateHeaders(headers)) > 0 { // not naming it: the name may come from the payload
		panic(wrongAt(nil, "headers: a name or a value is not allowed, see the limits of headers of an endpoint"))
	}
	return headers
}

// writer writes JSON of at most MaxBody bytes and maxDepth levels, with the keys of maps sorted.
// It needs bounds of its own, because a value can be much larger than the work that built it: its
// lists may contain one list many times.
type writer struct {
	v    *evaluation // pays
	of   string      // what is written, for faults
	at   ast.Expr    // nil: the whole expression
	text []byte
}

// json returns the value as JSON.
func (v *evaluation) json(value any, of string, at ast.Expr) []byte {
	w := writer{v: v, of: of, at: at}
	w.write(value, 0)
	return w.text
}

func (w *writer) wrong(format string, args ...any) *fault {
	return wrongAt(w.at, "%s: %s", w.of, fmt.Sprintf(format, args...))
}

func (w *writer) write(value any, depth int) {
	if depth > maxDepth {
		panic(w.wrong("more than %d levels of lists and maps", maxDepth))
	}
	before := len(w.text)
	switch v := value.(type) {
	case nil:
		w.text = append(w.text, "null"...)
	case bool:
		w.text = strconv.AppendBool(w.text, v)
	case int64:
		w.text = strconv.AppendInt(w.text, v, 10)
	case uint64:
		w.text = strconv.AppendUint(w.text, v, 10)
	case json.Number:
		w.text = append(w.text, v...)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(w.wrong("a number is infinite, or none"))
		}
		w.append(v)
	case string:
		w.bound(len(v))
		w.append(v)
	case time.Time:
		w.append(stamp(v))
	case map[string]any:
		w.writeMap(v, depth)
		return
	case []any:
		w.writeList(v, depth)
		return
	default:
		panic(w.wrong("%s is not in JSON", typeOf(value)))
	}
	w.spend(len(w.text) - before)
}

func (w *writer) writeMap(fields map[string]any, depth int) {
	w.spend(len(fields))
	w.text = append(w.text, '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.write(name, depth)
		w.text = append(w.text, ':')
		w.write(fields[name], depth+1)
	}
	w.text = append(w.text, '}')
	w.spend(1)
}

func (w *writer) writeList(list []any, depth int) {
	w.text = append(w.text, '[')
	for i, value := range list {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.write(value, depth+1)
	}
	w.text = append(w.text, ']')
	w.spend(1)
}

// append writes a text or a number.
func (w *writer) append(value any) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // escaping would use up more bytes
	_ = encoder.Encode(value)    //nolint:errchkjson // texts and finite numbers encode without error
	w.text = append(w.text, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...)
}

// spend pays for what was written.
func (w *writer) spend(bytes int) {
	w.bound(0)
	w.v.spendText(bytes, w.at)
}

// bound refuses more bytes than MaxBody in all.
func (w *writer) bound(more int) {
	if len(w.text)+more > MaxBody {
		panic(w.wrong("the body has more than %d bytes", MaxBody))
	}
}
