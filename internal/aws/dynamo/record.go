package dynamo

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
	coder

	name  string
	index []int
}

// coder encodes and decodes the values of a type.
type coder struct {
	encode func(v reflect.Value) types.AttributeValue
	decode func(a types.AttributeValue, v reflect.Value) error
}

// plans caches the results of partsOf.
var plans sync.Map //nolint:gochecknoglobals // a function of the type

// partsOf returns the stored fields of a struct.
func partsOf(t reflect.Type) []part {
	if known, ok := plans.Load(t); ok {
		return known.([]part) //nolint:errcheck,forcetypeassert // stored below
	}
	var parts []part
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get(storedTag), ",")
		switch {
		case option == "inline" && f.Type.Kind() == reflect.Map:
			parts = append(parts, part{name: "", index: f.Index})
		case f.Anonymous || option == "inline":
			for _, inner := range partsOf(f.Type) {
				inner.index = slices.Concat(f.Index, inner.index)
				parts = append(parts, inner)
			}
		case name != "":
			parts = append(parts, part{coderOf(f.Type, option), name, f.Index})
		}
	}
	plans.Store(t, parts)
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
		a := p.encode(field)
		if m, ok := a.(*types.AttributeValueMemberM); ok && len(m.Value) == 0 {
			continue
		}
		item[p.name] = a
	}
	return item
}

// encode returns the attribute of a value.
func encode(value any) types.AttributeValue {
	v := reflect.ValueOf(value)
	return coderOf(v.Type(), "").encode(v)
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
		if err := decodePresent(p.coder, item[p.name], v.FieldByIndex(p.index)); err != nil {
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

// decodePresent decodes an attribute that is not absent or NULL.
func decodePresent(c coder, a types.AttributeValue, v reflect.Value) error {
	if _, null := a.(*types.AttributeValueMemberNULL); null || a == nil {
		return nil
	}
	return c.decode(a, v)
}

// coderOf returns the coder of a type, which has one of the kinds below.
func coderOf(t reflect.Type, option string) coder {
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		return timeCoder(option)
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return textCoder()
	case kind == reflect.Uint8:
		return wordCoder(t)
	case kind == reflect.String:
		return stringCoder(reflect.Value.String, func(s string, v reflect.Value) error {
			v.SetString(s)
			return nil
		})
	case t == reflect.TypeFor[[]byte]() && option == "text":
		return stringCoder(func(v reflect.Value) string { return string(v.Bytes()) }, func(s string, v reflect.Value) error {
			v.SetBytes([]byte(s))
			return nil
		})
	case t == reflect.TypeFor[[]byte]():
		return coder{
			encode: func(v reflect.Value) types.AttributeValue { return &types.AttributeValueMemberB{Value: v.Bytes()} },
			decode: as(func(a *types.AttributeValueMemberB, v reflect.Value) error {
				v.SetBytes(bytes.Clone(a.Value)) // the in-process table shares its values
				return nil
			}),
		}
	case kind == reflect.Bool:
		return coder{
			encode: func(v reflect.Value) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v.Bool()} },
			decode: as(func(a *types.AttributeValueMemberBOOL, v reflect.Value) error {
				v.SetBool(a.Value)
				return nil
			}),
		}
	case kind == reflect.Float64:
		return numberCoder(func(v reflect.Value) string { return strconv.FormatFloat(v.Float(), 'f', -1, 64) }, func(s string, v reflect.Value) error {
			f, err := strconv.ParseFloat(s, 64)
			v.SetFloat(f)
			return err
		})
	case kind == reflect.Pointer:
		return pointerCoder(coderOf(t.Elem(), option))
	case kind == reflect.Map:
		return mapCoder(t, coderOf(t.Elem(), ""))
	case kind == reflect.Slice:
		return listCoder(coderOf(t.Elem(), ""))
	case kind == reflect.Struct:
		return coder{
			encode: func(v reflect.Value) types.AttributeValue { return &types.AttributeValueMemberM{Value: encodeParts(v)} },
			decode: as(func(a *types.AttributeValueMemberM, v reflect.Value) error { return decodeParts(a.Value, v) }),
		}
	}
	return numberCoder(func(v reflect.Value) string { return strconv.FormatInt(v.Int(), 10) }, func(s string, v reflect.Value) error {
		n, err := strconv.ParseInt(s, 10, 64)
		v.SetInt(n)
		return err
	})
}

// stringCoder is for a type with a text.
func stringCoder(format func(reflect.Value) string, parse func(string, reflect.Value) error) coder {
	return coder{
		encode: func(v reflect.Value) types.AttributeValue { return text(format(v)) },
		decode: as(func(a *types.AttributeValueMemberS, v reflect.Value) error { return parse(a.Value, v) }),
	}
}

// numberCoder is for a type with a number, as a text.
func numberCoder(format func(reflect.Value) string, parse func(string, reflect.Value) error) coder {
	return coder{
		encode: func(v reflect.Value) types.AttributeValue { return &types.AttributeValueMemberN{Value: format(v)} },
		decode: as(func(a *types.AttributeValueMemberN, v reflect.Value) error { return parse(a.Value, v) }),
	}
}

// as returns a decoder of attributes of one type.
func as[A types.AttributeValue](decode func(a A, v reflect.Value) error) func(types.AttributeValue, reflect.Value) error {
	return func(a types.AttributeValue, v reflect.Value) error {
		typed, ok := a.(A)
		if !ok {
			return fmt.Errorf("%T is not for a %s", a, v.Type())
		}
		return decode(typed, v)
	}
}

func timeCoder(option string) coder {
	to, from := millis, fromMillis
	switch option {
	case "seconds":
		to, from = ttl, fromTTL
	case "nanoseconds":
		to, from = time.Time.UnixNano, func(ns int64) time.Time { return time.Unix(0, ns).UTC() }
	}
	return numberCoder(func(v reflect.Value) string {
		t, _ := v.Interface().(time.Time)
		return strconv.FormatInt(to(t), 10)
	}, func(s string, v reflect.Value) error {
		n, err := strconv.ParseInt(s, 10, 64)
		v.Set(reflect.ValueOf(from(n)))
		return err
	})
}

func textCoder() coder {
	return stringCoder(func(v reflect.Value) string {
		said, _ := v.Interface().(encoding.TextMarshaler).MarshalText() //nolint:errcheck,forcetypeassert // the type of the coder; ids and networks always have a text
		return string(said)
	}, func(s string, v reflect.Value) error {
		return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)) //nolint:errcheck,forcetypeassert // the inverse
	})
}

// wordCoder is for an enumeration: values from 1 without gaps, each with a name. Every other value
// has the name "unknown".
func wordCoder(t reflect.Type) coder {
	words := []string{""}
	for v := reflect.New(t).Elem(); ; {
		v.SetUint(uint64(len(words)))
		word := fmt.Sprint(v.Interface())
		if word == "unknown" {
			break
		}
		words = append(words, word)
	}
	return stringCoder(func(v reflect.Value) string { return words[v.Uint()] }, func(s string, v reflect.Value) error {
		value := slices.Index(words, s)
		if value < 0 {
			return fmt.Errorf("%q is not a %s", s, t)
		}
		v.SetUint(uint64(value))
		return nil
	})
}

func pointerCoder(to coder) coder {
	return coder{
		encode: func(v reflect.Value) types.AttributeValue { return to.encode(v.Elem()) },
		decode: func(a types.AttributeValue, v reflect.Value) error {
			v.Set(reflect.New(v.Type().Elem()))
			return to.decode(a, v.Elem())
		},
	}
}

// listCoder also reads sets.
func listCoder(of coder) coder {
	return coder{
		encode: func(v reflect.Value) types.AttributeValue {
			list := make([]types.AttributeValue, v.Len())
			for i := range list {
				list[i] = of.encode(v.Index(i))
			}
			return &types.AttributeValueMemberL{Value: list}
		},
		decode: func(a types.AttributeValue, v reflect.Value) error {
			var list []types.AttributeValue
			switch a := a.(type) {
			case *types.AttributeValueMemberL:
				list = a.Value
			case *types.AttributeValueMemberSS:
				for _, one := range a.Value {
					list = append(list, text(one))
				}
			case *types.AttributeValueMemberNS:
				for _, one := range a.Value {
					list = append(list, &types.AttributeValueMemberN{Value: one})
				}
			default:
				return fmt.Errorf("%T is not for a %s", a, v.Type())
			}
			v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
			var errs []error
			for i, one := range list {
				errs = append(errs, decodePresent(of, one, v.Index(i)))
			}
			return errors.Join(errs...)
		},
	}
}

func mapCoder(t reflect.Type, of coder) coder {
	return coder{
		encode: func(v reflect.Value) types.AttributeValue {
			m := make(attributes, v.Len())
			for entries := v.MapRange(); entries.Next(); {
				m[entries.Key().String()] = of.encode(entries.Value())
			}
			return &types.AttributeValueMemberM{Value: m}
		},
		decode: as(func(a *types.AttributeValueMemberM, v reflect.Value) error {
			v.Set(reflect.MakeMapWithSize(t, len(a.Value)))
			var errs []error
			for name, one := range a.Value {
				entry := reflect.New(t.Elem()).Elem()
				errs = append(errs, decodePresent(of, one, entry))
				v.SetMapIndex(reflect.ValueOf(name).Convert(t.Key()), entry)
			}
			return errors.Join(errs...)
		}),
	}
}

// attributes is an item, or a part of one, as the API has it.
type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// millis returns the stored form of a time: milliseconds since 1970, 0 for the
// zero time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMillis is the inverse of millis, in UTC.
func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// ttl returns the form of DynamoDB's TTL: whole seconds since 1970, 0 for the zero
// time.
func ttl(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// fromTTL is the inverse of ttl, in UTC.
func fromTTL(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// parse returns the value of an enumeration with the name; the zero value for none.
func parse[T ~uint8](name string) (v T, err error) {
	return v, wordCoder(reflect.TypeFor[T]()).decode(text(name), reflect.ValueOf(&v).Elem())
}

// removed is when the table removes an item whose record has no such time.
type removed struct {
	At time.Time `stored:"expires_at,seconds"`
}
