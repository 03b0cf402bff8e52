package formats_test

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/internal/memory/table"
	"surehook.example/surehook/proof/porttest"
)

// coverage is which fields of records, and which words, were read.
type coverage struct {
	fields map[string]bool         // by the type and the name: some value is not zero
	words  map[reflect.Type][]bool // by the value
}

func newCoverage() *coverage {
	return &coverage{fields: make(map[string]bool), words: make(map[reflect.Type][]bool)}
}

// add walks through the value.
func (c *coverage) add(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	if word, ok := v.Interface().(fmt.Stringer); ok && v.Kind() == reflect.Uint8 {
		c.addWord(v, word)
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others have no parts
	case reflect.Pointer, reflect.Interface:
		c.add(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			c.add(v.Index(i))
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			c.add(value)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				name := v.Type().String() + "." + field.Name
				c.fields[name] = c.fields[name] || !v.Field(i).IsZero()
				c.add(v.Field(i))
			}
		}
	}
}

// addWord notes a word of an enumeration from 1, whose end is unknown.
func (c *coverage) addWord(v reflect.Value, word fmt.Stringer) {
	if c.words[v.Type()] == nil {
		last := reflect.New(v.Type()).Elem()
		n := 1
		for ; ; n++ {
			last.SetUint(uint64(n))
			if s, ok := last.Interface().(fmt.Stringer); !ok || s.String() == "unknown" {
				break
			}
		}
		c.words[v.Type()] = make([]bool, n)
	}
	if word.String() != "unknown" {
		c.words[v.Type()][v.Uint()] = true
	}
}

// noRecord are fields and words of records that no store keeps.
func noRecord() map[string]string {
	return map[string]string{
		"hook.Endpoint.Headers":       "of requests only",
		"hook.Endpoint.TenantVersion": "of writes only",
		"admission.Limits.Most":       "of writes only",
		"hook.Auth.Secret":            "of requests only",
		"hook.TLS.Material":           "an item of its own",
		"hook.Material.Key":           "of requests only",
		"hook.Event.Ordering":         "of attempts only",
	}
}

// TestComplete_fields checks that each field and each word of the records is in a fixture.
func TestComplete_fields(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	seen := newCoverage()
	b := read(t, unreleased)
	meaning(t, b, load(t, b.items), seen)
	missing := make(map[string]bool)
	for name, ok := range seen.fields {
		missing[name] = !ok
	}
	for word, values := range seen.words {
		one := reflect.New(word).Elem()
		for n, ok := range values[1:] {
			one.SetUint(uint64(n + 1))
			missing[fmt.Sprintf("%s %s", word, one.Interface())] = !ok
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if reason := noRecord()[name]; missing[name] != (reason != "") {
			t.Errorf("%s is in no item and no message: %t; want %t (%s)", name, missing[name], reason != "", reason)
		}
	}
}

// digits are the parts of names of attributes that count: minutes and buckets.
var digits = regexp.MustCompile(`[0-9]+`)

// attributes returns the kinds of the items, each with the names of its attributes.
func attributes(k table.Key, item table.Item) (all []string) {
	kind := kindOf(k)
	for name := range item {
		switch {
		case kind == "endpoint.stats" && strings.Trim(name[:1], "ofcnhsekl") == "": // counters, by minute, number, class, bucket and type
			name = name[:1] + "..."
		case namesWriters(kind) && writer.MatchString(name), kind == "tenant.tenant":
			name = digits.ReplaceAllString(name, "")
		}
		all = append(all, kind+" "+name)
	}
	return all
}

// TestComplete_items checks that each kind of item, and each attribute, that the suite of
// the store writes is in a fixture.
func TestComplete_items(t *testing.T) { //nolint:tparallel // the writes of the parallel cases are read after the suite
	t.Parallel() // after TestWritten, which may write the folder

	var mu sync.Mutex
	wanted := make(map[string]bool)
	t.Run("suite", func(t *testing.T) {
		porttest.Store(t, func(*testing.T) porttest.StoreUnderTest {
			s := memory.NewStore()
			s.Table.Wrote = func(k table.Key, _, after table.Item) {
				mu.Lock()
				defer mu.Unlock()

				for _, name := range attributes(k, after) {
					wanted[name] = true
				}
			}
			return s
		})
	})
	load(t, read(t, unreleased).items).Table.Each(func(k table.Key, item table.Item) bool {
		for _, name := range attributes(k, item) {
			delete(wanted, name)
		}
		return true
	})
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		t.Errorf("the suite of the store writes %s, and no fixture has it", name)
	}
}

// TestComplete_lists checks that each list of the contract has a cursor.
func TestComplete_lists(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	doc, err := openapi3.NewLoader().LoadFromFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for name := range read(t, unreleased).cursors {
		path, _, _ := strings.Cut(name, "?")
		known[path] = true
	}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Parameters.GetByInAndName("query", "cursor") != nil && !known[path] {
				t.Errorf("%s %s has a cursor, and no fixture", method, path)
			}
		}
	}
}

// TestComplete_queues checks that each queue has a task.
func TestComplete_queues(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	messages := read(t, unreleased).messages
	for _, queue := range hook.Queues() {
		if messages["task "+queue.String()] == "" {
			t.Errorf("the queue %s has no task", queue)
		}
	}
}

// TestComplete_documented compares the kinds of items with the table of package dynamo's
// documentation.
func TestComplete_documented(t *testing.T) {
	t.Parallel() // after TestWritten, which may write the folder

	doc, err := os.ReadFile("../../internal/aws/dynamo/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	items, _, _ := strings.Cut(string(doc), "# Indexes")
	documented := make(map[string]bool)
	for _, row := range regexp.MustCompile(`(?m)^//\t[^\t]+? {2,}(\S+) +(\S+) {2,}[^\t]*$`).FindAllStringSubmatch(items, -1) {
		if row[1] != "pk" {
			documented[kindOf(table.Key{Hash: row[1], Sort: strings.Trim(row[2], `"`)})] = true
		}
	}
	stored := read(t, unreleased).items
	for kind := range stored {
		if !documented[kind] {
			t.Errorf("package dynamo does not document %s", kind)
		}
	}
	for kind := range documented {
		if stored[kind] == nil {
			t.Errorf("package dynamo documents %s, and no fixture has the kind", kind)
		}
	}
}
