package httpapi

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
)

// Error messages for invalid durations and times.
const (
	durationForm = `must be a duration in h, m, s or ms, such as "90s", "1h30m" or "72h" for 3 days`
	stampForm    = `must be a time such as "2026-11-21T09:30:00Z"`
)

// maxDuration is more than any duration needs, in bytes.
const maxDuration = 100

// secret is a text of a request that is masked in its record.
type secret string

// written has the forms of values in responses and records: times in RFC 3339, in UTC with
// milliseconds; durations with units, such as "1m30s"; enumerations as words; JSON as it is.
var written = json.WithMarshalers(json.JoinMarshalers( //nolint:gochecknoglobals // forms of types
	json.MarshalToFunc(func(to *jsontext.Encoder, t time.Time) error {
		return to.WriteToken(jsontext.String(t.UTC().Format("2006-01-02T15:04:05.000Z")))
	}),
	json.MarshalToFunc(func(to *jsontext.Encoder, d time.Duration) error {
		return to.WriteToken(jsontext.String(hook.FormatDuration(d)))
	}),
	json.MarshalToFunc(func(to *jsontext.Encoder, raw []byte) error {
		if len(raw) == 0 { // the filter of an endpoint without one
			raw = []byte("{}")
		}
		return to.WriteValue(raw)
	}),
	json.MarshalToFunc(func(to *jsontext.Encoder, s secret) error { return to.WriteToken(jsontext.String(mask(string(s)))) }),
	json.MarshalToFunc(func(to *jsontext.Encoder, a hook.Auth) error { return json.MarshalEncode(to, viewAuth(a)) }),
	json.MarshalToFunc(func(to *jsontext.Encoder, m hook.Material) error { return json.MarshalEncode(to, maskedTLS(m)) }),
	json.MarshalToFunc(func(to *jsontext.Encoder, d hook.Destination) error {
		return json.MarshalEncode(to, viewDestination(d))
	}),
	json.MarshalToFunc(func(to *jsontext.Encoder, word fmt.Stringer) error {
		if !isWord(reflect.TypeOf(word).Elem()) {
			return errors.ErrUnsupported
		}
		return to.WriteToken(jsontext.String(word.String()))
	}),
))

// readerOf returns what decodes the values of a type whose form in a body is not that of the
// library; nil for other types.
func readerOf(t reflect.Type) func(f *form, v reflect.Value) error {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return texted(durationForm, parseDuration)
	case reflect.TypeFor[time.Time]():
		return texted(stampForm, parseStamp)
	case reflect.TypeFor[hook.Auth]():
		return via(authBody.auth)
	case reflect.TypeFor[hook.Material]():
		return via(tlsBody.material)
	case reflect.TypeFor[hook.RetryPolicy]():
		return via(retryBody.policy)
	case reflect.TypeFor[hook.Coalescing]():
		return via(coalesceBody.settings)
	case reflect.TypeFor[hook.Destination]():
		return via(destinationOf)
	}
	if isWord(t) {
		return (*form).word
	}
	return nil
}

// isWord reports whether the type is an enumeration: numbers or truth values with names.
func isWord(t reflect.Type) bool {
	return t.Kind() == reflect.Uint8 || t.Kind() == reflect.Bool && t.Implements(reflect.TypeFor[fmt.Stringer]())
}

// texted decodes a value that is a text in JSON. form is the message about any other one.
func texted[T any](message string, parse func(string) (T, bool)) func(f *form, v reflect.Value) error {
	return func(f *form, v reflect.Value) error {
		text, ok, err := f.text()
		if err != nil {
			return err
		}
		value, fits := parse(text)
		if !ok || !fits {
			return f.add(hook.FieldError{Field: fieldPath(f.dec.StackPointer()), Message: message})
		}
		v.Set(reflect.ValueOf(value))
		return nil
	}
}

func parseDuration(text string) (time.Duration, bool) {
	parsed, err := time.ParseDuration(text[:min(len(text), maxDuration)])
	return parsed, err == nil && len(text) <= maxDuration
}

// parseStamp parses a time of RFC 3339 and truncates the time to milliseconds.
func parseStamp(text string) (time.Time, bool) {
	var t time.Time
	err := t.UnmarshalText([]byte(text))
	t = t.UTC().Truncate(time.Millisecond)
	return t, err == nil && t.Year() >= 1970 && t.Year() <= 9999 // the conversion to UTC may leave the years 1970 to 9999
}

// via decodes a value by way of the form W. What translate calls wrong is a field of the body; a
// nil value is left out.
func via[W, T any](translate func(W) (*T, hook.Fields)) func(f *form, v reflect.Value) error {
	return func(f *form, v reflect.Value) error {
		var w W
		if err := f.value(reflect.ValueOf(&w).Elem()); err != nil {
			return err
		}
		value, wrong := translate(w)
		for _, e := range hook.AlsoWrong(f.wrong, wrong)[len(f.wrong):] {
			if err := f.add(e); errors.Is(err, errEnough) {
				return err
			}
		}
		if value == nil {
			return errLeftOut
		}
		v.Set(reflect.ValueOf(*value))
		return nil
	}
}

// text reads the next value; ok is false if it is no text.
func (f *form) text() (text string, ok bool, err error) {
	if f.dec.PeekKind() != '"' {
		return "", false, f.dec.SkipValue()
	}
	token, err := f.dec.ReadToken()
	if err != nil {
		return "", false, err
	}
	return token.String(), true, nil
}

// word decodes the name of an enumerated value.
func (f *form) word(v reflect.Value) error {
	text, ok, err := f.text()
	if err != nil {
		return err
	}
	wrong := hook.FieldError{Field: fieldPath(f.dec.StackPointer()), Message: "must be " + article(reflect.String)}
	if !ok {
		return f.add(wrong)
	}
	words, values := wordsOf(v.Type())
	for i, word := range words {
		if word == text {
			v.Set(values[i])
			return nil
		}
	}
	wrong.Message = "must be one of " + strings.Join(words, ", ")
	return f.add(wrong)
}

// wordsOf returns the names of the values of an enumeration: of a boolean, or of numbers without gaps.
func wordsOf(t reflect.Type) (words []string, values []reflect.Value) {
	if t.Kind() == reflect.Bool {
		values = []reflect.Value{reflect.ValueOf(false).Convert(t), reflect.ValueOf(true).Convert(t)}
	} else {
		for n := range uint8(math.MaxUint8) {
			values = append(values, reflect.ValueOf(n).Convert(t))
		}
	}
	for i, v := range values {
		word := fmt.Sprint(v.Interface())
		switch {
		case word != "unknown":
			words = append(words, word)
		case i > 0:
			return words, values[i-len(words) : i]
		}
	}
	return words, values
}

// pattern decodes the filter of an endpoint without white space: empty for an object without fields.
func (f *form) pattern(v reflect.Value) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	text := compact(raw)
	if string(text) == "{}" {
		text = nil
	}
	v.Set(reflect.ValueOf(&text))
	return nil
}
