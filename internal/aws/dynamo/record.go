package dynamo

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// storedTag is the tag of the stored fields of a record, with the name of the attribute: a record
// is stored as it is, without a twin. A field without the tag is not stored, and an empty value
// has no attribute. Durations are numbers of nanoseconds, times are numbers of milliseconds since
// 1970, and enumerations are words, which keep records independent of the order of constants.
// Options, after a comma:
//   - seconds: a time in the form of TTL, in whole seconds;
//   - nanoseconds: a time in nanoseconds since 1970;
//   - text: bytes that are UTF-8, as a string;
//   - inline: the attributes of a struct stand beside the others, as those of an embedded struct,
//     and so do the entries of a map of strings, which takes all attributes without a field.
//
// The SDK's encoder does not fit: it takes a list of words for bytes, writes empty structs, and
// stops at the first word that it does not know, at a random place of the item.
const storedTag = "stored"

// part is a stored field of a struct.
type part struct {
	name, option string
	index        []int
}

// plans caches what follows from a type: its parts, or its words.
var plans sync.Map //nolint:gochecknoglobals // functions of the type

func planned[T any](t reflect.Type, plan func(reflect.Type) T) T {
	known, ok := plans.Load(t)
	if !ok {
		known = plan(t)
		plans.Store(t, known)
	}
	return known.(T) //nolint:errcheck,forcetypeassert // a type has one plan
}

// partsOf returns the stored fields of a struct.
func partsOf(t reflect.Type) []part { return planned(t, planParts) }

func planParts(t reflect.Type) (parts []part) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get(storedTag), ",")
		switch {
		case option == "inline" && f.Type.Kind() == reflect.Map:
			parts = append(parts, part{index: f.Index})
		case f.Anonymous || option == "inline":
			for _, inner := range partsOf(f.Type) {
				inner.index = slices.Concat(f.Index, inner.index)
				parts = append(parts, inner)
			}
		case name != "":
			parts = append(parts, part{name, option, f.Index})
		}
	}
	return parts
}

// encodeItem returns the attributes of all the records together. Those of a later one count.
func encodeItem(records ...any) attributes {
	item := make(attributes)
	for _, record := range records {
		maps.Copy(item, encodeParts(reflect.ValueOf(record)))
	}
	return item
}

func encodeParts(v reflect.Value) attributes {
	parts := partsOf(v.Type())
	item := make(attributes, len(parts))
	for _, p := range parts {
		field := v.FieldByIndex(p.index)
		if kind := field.Kind(); field.IsZero() || (kind == reflect.Slice || kind == reflect.Map) && field.Len() == 0 {
			continue
		}
		if p.name == "" {
			for entries := field.MapRange(); entries.Next(); {
				item[entries.Key().String()] = text(entries.Value().String())
			}
			continue
		}
		a := encodeValue(field, p.option)
		if m, ok := a.(*types.AttributeValueMemberM); ok && len(m.Value) == 0 {
			continue
		}
		item[p.name] = a
	}
	return item
}

// decodeItem reads an item into out, a pointer to a record. What cannot be read, such as a word of
// a later build, stays zero and is in the error.
func decodeItem(item attributes, out any) error {
	return decodeParts(item, reflect.ValueOf(out).Elem())
}

func decodeParts(item attributes, v reflect.Value) error {
	var errs []error
	parts := partsOf(v.Type())
	for _, p := range parts {
		if p.name == "" {
			decodeRest(item, parts, v.FieldByIndex(p.index))
			continue
		}
		if err := decodeValue(item[p.name], v.FieldByIndex(p.index), p.option); err != nil {
			errs = append(errs, fmt.Errorf("read stored %s: %w", p.name, err))
		}
	}
	return errors.Join(errs...)
}

// decodeRest reads the texts that no part names into a map of strings.
func decodeRest(item attributes, parts []part, v reflect.Value) {
	for name, a := range item {
		rest, ok := a.(*types.AttributeValueMemberS)
		if !ok || slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			continue
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(rest.Value))
	}
}

// decodeItems reads items into records.
func decodeItems[T any](items []attributes) ([]T, error) {
	records := make([]T, len(items))
	for i, item := range items {
		if err := decodeItem(item, &records[i]); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// removed is when the table removes an item whose record has no such time.
type removed struct {
	At time.Time `stored:"expires_at,seconds"`
}
