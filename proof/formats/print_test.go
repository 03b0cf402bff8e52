package formats_test

import (
	"encoding"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// printed returns the value for JSON: structs, maps and lists without what is zero, so that
// a new field leaves the meaning of an older record as it is.
func printed(v reflect.Value) any {
	switch {
	case !v.IsValid() || v.IsZero():
		return nil
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		switch x := v.Interface().(type) {
		case error:
			return "error: " + x.Error()
		case interface{ Buckets() iter.Seq2[int, int] }: // a histogram
			return buckets(x.Buckets())
		}
		return printed(v.Elem())
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case time.Duration:
		return x.String()
	case []byte:
		if utf8.Valid(x) {
			return string(x)
		}
		return fmt.Sprintf("%x", x)
	case encoding.TextMarshaler:
		s, _ := x.MarshalText()
		return string(s)
	case fmt.Stringer:
		if v.Kind() == reflect.Uint8 { // a word
			return x.String()
		}
	}
	switch v.Kind() { //nolint:exhaustive // the others are as JSON has them
	case reflect.Struct:
		fields := make(map[string]any)
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && !v.Field(i).IsZero() {
				fields[field.Name] = printed(addressable(v.Field(i)))
			}
		}
		return fields
	case reflect.Map:
		entries := make(map[string]any)
		for k, value := range v.Seq2() {
			entries[fmt.Sprint(k)] = printed(value)
		}
		return entries
	case reflect.Array: // of counts
		entries := make(map[string]any)
		for i := range v.Len() {
			if !v.Index(i).IsZero() {
				entries[strconv.Itoa(i)] = printed(addressable(v.Index(i)))
			}
		}
		return entries
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = printed(addressable(v.Index(i)))
		}
		return list
	}
	return v.Interface()
}

// addressable returns a pointer to a struct whose methods have pointers.
func addressable(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Struct || !strings.HasSuffix(v.Type().PkgPath(), "/latency") {
		return v
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

func buckets(all iter.Seq2[int, int]) map[string]int {
	counts := make(map[string]int)
	for bucket, n := range all {
		if n != 0 {
			counts[strconv.Itoa(bucket)] = n
		}
	}
	return counts
}
