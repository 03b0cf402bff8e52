package dynamo

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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

// storedTime returns the stored form of a time with the option of its field, see storedTag.
func storedTime(t time.Time, option string) int64 {
	switch option {
	case "seconds":
		return t.Unix()
	case "nanoseconds":
		return t.UnixNano()
	}
	return millis(t)
}

// fromStored is the inverse of storedTime, in UTC.
func fromStored(n int64, option string) time.Time {
	switch {
	case n != 0 && option == "seconds":
		return time.Unix(n, 0).UTC()
	case n != 0 && option == "nanoseconds":
		return time.Unix(0, n).UTC()
	}
	return fromMillis(n)
}

// wordsOf returns the names of an enumeration: of values from 1 without gaps. Every other value has
// the name "unknown".
func wordsOf(t reflect.Type) []string { return planned(t, planWords) }

func planWords(t reflect.Type) []string {
	words := []string{""}
	for v := reflect.New(t).Elem(); ; {
		v.SetUint(uint64(len(words)))
		word := fmt.Sprint(v.Interface())
		if word == "unknown" {
			return words
		}
		words = append(words, word)
	}
}

// parse returns the value of an enumeration with the name; the zero value for none.
func parse[T ~uint8](name string) (v T, err error) {
	return v, decodeValue(text(name), reflect.ValueOf(&v).Elem(), "")
}

// encode returns the attribute of a value.
func encode(value any) types.AttributeValue { return encodeValue(reflect.ValueOf(value), "") }

// encodeValue returns the attribute of a value with the option of its field, see storedTag.
func encodeValue(v reflect.Value, option string) types.AttributeValue {
	switch t, kind := v.Type(), v.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		at, _ := v.Interface().(time.Time)
		return number(storedTime(at, option))
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		said, _ := v.Interface().(encoding.TextMarshaler).MarshalText() //nolint:errcheck,forcetypeassert // ids and networks always have a text
		return text(string(said))
	case t == reflect.TypeFor[[]byte]() && option == "text":
		return text(string(v.Bytes()))
	case t == reflect.TypeFor[[]byte]():
		return &types.AttributeValueMemberB{Value: v.Bytes()}
	case kind == reflect.Uint8:
		return text(wordsOf(v.Type())[v.Uint()])
	case kind == reflect.String:
		return text(v.String())
	case kind == reflect.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case kind == reflect.Float64:
		return &types.AttributeValueMemberN{Value: strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	case kind == reflect.Pointer:
		return encodeValue(v.Elem(), option)
	case kind == reflect.Map:
		m := make(attributes, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			m[entries.Key().String()] = encodeValue(entries.Value(), "")
		}
		return &types.AttributeValueMemberM{Value: m}
	case kind == reflect.Slice:
		list := make([]types.AttributeValue, v.Len())
		for i := range list {
			list[i] = encodeValue(v.Index(i), "")
		}
		return &types.AttributeValueMemberL{Value: list}
	case kind == reflect.Struct:
		return &types.AttributeValueMemberM{Value: encodeParts(v)}
	}
	return number(v.Int())
}

// decodeValue is the inverse of encodeValue. It also reads sets into lists, and leaves the value as it is if
// the attribute is absent or NULL.
func decodeValue(a types.AttributeValue, v reflect.Value, option string) error {
	if _, null := a.(*types.AttributeValueMemberNULL); null || a == nil {
		return nil
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	asText, isText := v.Addr().Interface().(encoding.TextUnmarshaler) // also a time
	asBytes, isBytes := v.Addr().Interface().(*[]byte)
	kind := v.Kind()
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		switch {
		case isText:
			return asText.UnmarshalText([]byte(a.Value))
		case isBytes:
			*asBytes = []byte(a.Value)
			return nil
		case kind == reflect.Uint8:
			return decodeWord(a.Value, v)
		case kind == reflect.String:
			v.SetString(a.Value)
			return nil
		}
	case *types.AttributeValueMemberN:
		return decodeNumber(a, v, option)
	case *types.AttributeValueMemberB:
		if isBytes {
			*asBytes = bytes.Clone(a.Value) // the in-process table shares its values
			return nil
		}
	case *types.AttributeValueMemberBOOL:
		if kind == reflect.Bool {
			v.SetBool(a.Value)
			return nil
		}
	case *types.AttributeValueMemberM:
		switch {
		case kind == reflect.Map:
			return decodeMap(a.Value, v)
		case kind == reflect.Struct && !isText:
			return decodeParts(a.Value, v)
		}
	default:
		if kind == reflect.Slice && !isBytes {
			return decodeList(elements(a), v)
		}
	}
	return unfit(a, v)
}

func unfit(a types.AttributeValue, v reflect.Value) error {
	return fmt.Errorf("%T is not for a %s", a, v.Type())
}

func decodeWord(word string, v reflect.Value) error {
	value := slices.Index(wordsOf(v.Type()), word)
	if value < 0 {
		return fmt.Errorf("%q is not a %s", word, v.Type())
	}
	v.SetUint(uint64(value))
	return nil
}

func decodeNumber(a *types.AttributeValueMemberN, v reflect.Value, option string) error {
	if v.Kind() == reflect.Float64 {
		f, err := strconv.ParseFloat(a.Value, 64)
		v.SetFloat(f)
		return err
	}
	n, err := strconv.ParseInt(a.Value, 10, 64)
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(fromStored(n, option)))
	case v.CanInt():
		v.SetInt(n)
	default:
		return unfit(a, v)
	}
	return err
}

func decodeMap(entries attributes, v reflect.Value) error {
	v.Set(reflect.MakeMapWithSize(v.Type(), len(entries)))
	var errs []error
	for name, one := range entries {
		entry := reflect.New(v.Type().Elem()).Elem()
		errs = append(errs, decodeValue(one, entry, ""))
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), entry)
	}
	return errors.Join(errs...)
}

func decodeList(list []types.AttributeValue, v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	var errs []error
	for i, one := range list {
		errs = append(errs, decodeValue(one, v.Index(i), ""))
	}
	return errors.Join(errs...)
}

// elements returns those of a list or a set.
func elements(a types.AttributeValue) (all []types.AttributeValue) {
	switch a := a.(type) {
	case *types.AttributeValueMemberL:
		return a.Value
	case *types.AttributeValueMemberSS:
		for _, one := range a.Value {
			all = append(all, text(one))
		}
	case *types.AttributeValueMemberNS:
		for _, one := range a.Value {
			all = append(all, &types.AttributeValueMemberN{Value: one})
		}
	}
	return all
}
