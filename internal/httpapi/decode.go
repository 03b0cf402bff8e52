package httpapi

import (
	"bytes"
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook.example/surehook/internal/hook"
)

// Maximum size of request bodies, in bytes.
const (
	maxBody      = 64 << 10
	maxEventBody = hook.MaxPayload + 16<<10 // the payload and 16 KiB for the other fields
)

// maxWrong limits the wrong fields that one response names. In a body larger than maxBody,
// decoding stops at the first malformed field.
const maxWrong = 20

// withForm returns an action on a request body of at most limit bytes, a JSON object. Unknown and
// repeated names, null instead of a value, text after the object and invalid UTF-8 are wrong. do gets
// all wrong fields, which are absent in the body, and must refuse the request with these and those that
// its own checks find.
func withForm[B any](limit int64, do func(context.Context, *call, B, hook.Fields) (reply, error)) action {
	return onBody(limit, false, do)
}

// withBody is withForm for an action that makes no further checks: the response names all wrong fields.
func withBody[B any](limit int64, do func(context.Context, *call, B) (reply, error)) action {
	return onBody(limit, false, right(do))
}

// withOptionalBody is withBody for a body of at most maxBody bytes that may be absent.
func withOptionalBody[B any](do func(context.Context, *call, B) (reply, error)) action {
	return onBody(maxBody, true, right(do))
}

func onBody[B any](limit int64, optional bool, do func(context.Context, *call, B, hook.Fields) (reply, error)) action {
	return func(ctx context.Context, c *call) (reply, error) {
		var body B
		var wrong hook.Fields
		text, err := read(c, limit)
		if err == nil && (len(text) > 0 || !optional) {
			wrong, err = unmarshal(text, &body)
		}
		if err != nil {
			return reply{}, err
		}
		return do(ctx, c, body, wrong)
	}
}

// right calls do unless fields are wrong.
func right[B any](do func(context.Context, *call, B) (reply, error)) func(context.Context, *call, B, hook.Fields) (reply, error) {
	return func(ctx context.Context, c *call, body B, wrong hook.Fields) (reply, error) {
		if err := refusal(wrong); err != nil {
			return reply{}, err
		}
		return do(ctx, c, body)
	}
}

// byteOrderMark is what some editors put before the text of a file.
const byteOrderMark = "\ufeff"

func read(c *call, limit int64) ([]byte, error) {
	if encodings := c.r.Header.Values("Content-Encoding"); len(encodings) > 0 && strings.ToLower(encodings[0]) != "identity" {
		return nil, &hook.Error{Code: hook.CodeUnsupported, Message: "the body must be sent as it is, without a Content-Encoding such as gzip"}
	}
	var text bytes.Buffer
	text.Grow(int(min(max(c.r.ContentLength, 0), limit)) + bytes.MinRead) // growing the buffer later would copy it
	_, err := text.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, limit))
	body := bytes.TrimPrefix(text.Bytes(), []byte(byteOrderMark))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &hook.Error{Code: hook.CodeTooLarge, Message: fmt.Sprintf("the body must be at most %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return nil, &hook.Error{Code: hook.CodeInvalid, Message: "the body could not be read", Err: err}
	}
	if given := c.r.Header.Get("Content-Type"); given != "" && len(body) > 0 {
		if mediaType, _, err := mime.ParseMediaType(given); err != nil || mediaType != "application/json" {
			return nil, hook.Invalid(hook.FieldError{Field: "content-type", Message: "must be application/json"})
		}
	}
	return body, nil
}

// unmarshal decodes the body into v, a pointer to a struct, in one pass, and returns the
// malformed fields. An error means that the body is not one JSON object, or has as many wrong
// fields as a response names.
func unmarshal(body []byte, v any) (hook.Fields, error) {
	dec := decoders.Get().(*jsontext.Decoder) //nolint:errcheck,forcetypeassert // nothing else is in the pool
	defer decoders.Put(dec)
	dec.Reset(bytes.NewBuffer(body))
	f := form{dec: dec, most: maxWrong}
	if len(body) > maxBody {
		f.most = 1
	}
	isObject := f.dec.PeekKind() == '{'
	err := f.value(reflect.ValueOf(v).Elem())
	if err == nil || errors.Is(err, errLeftOut) {
		err = f.end(body)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, hook.Invalid(hook.FieldError{Field: "body", Message: "is missing"})
	case errors.Is(err, errEnough), err == nil && !isObject:
		return nil, hook.Invalid(f.wrong...)
	case err != nil:
		return nil, hook.Invalid(explain(err))
	}
	return f.wrong, nil
}

// decoders keeps the memory of decoders for later bodies.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }} //nolint:gochecknoglobals // as shapes

// form decodes a body and goes on after a malformed field, where the library's decoder would
// stop.
type form struct {
	dec   *jsontext.Decoder
	wrong hook.Fields
	most  int // errEnough when this many fields are wrong
}

// Errors of form. All other errors are about the syntax.
var (
	errLeftOut = errors.New("the value is wrong, and was left out")
	errEnough  = errors.New("enough wrong fields")
)

// value decodes the next value into v: a field of a body, or a part of one. Bodies consist of
// structs, slices, maps of strings, and types that the library decodes.
func (f *form) value(v reflect.Value) error {
	kind := f.dec.PeekKind()
	switch t := v.Type(); {
	case t == reflect.TypeFor[jsontext.Value](): // may be null
		return f.leaf(v)
	case t == reflect.TypeFor[*[]byte]():
		return f.pattern(v)
	case kind == 'n':
		return f.leaveOut("must not be null")
	}
	if read := readerOf(v.Type()); read != nil {
		return read(f, v)
	}
	if v.Kind() == reflect.Pointer {
		to := reflect.New(v.Type().Elem())
		err := f.value(to.Elem())
		if err == nil {
			v.Set(to)
		}
		return err
	}
	if _, isText := v.Addr().Interface().(encoding.TextUnmarshaler); isText {
		return f.leaf(v)
	}
	switch want := v.Kind(); {
	case want == reflect.Struct && kind == '{':
		return f.members(v)
	case want == reflect.Map && kind == '{':
		return f.entries(v)
	case want == reflect.Slice && kind == '[':
		return f.elements(v)
	case want == reflect.Int && kind == '0':
		return f.whole(v)
	case want == reflect.Struct, want == reflect.Map, want == reflect.Slice, kind == '{', kind == '[':
		return f.leaveOut("must be " + article(want))
	}
	return f.leaf(v)
}

// leaf lets the library decode a value.
func (f *form) leaf(v reflect.Value) error {
	before := f.dec.InputOffset()
	err := json.UnmarshalDecode(f.dec, v.Addr().Interface())
	if _, ok := errors.AsType[*json.SemanticError](err); !ok {
		return err
	}
	v.SetZero()
	if f.dec.InputOffset() == before {
		if err := f.dec.SkipValue(); err != nil {
			return err
		}
	}
	return f.add(explain(err))
}

// whole decodes a number that may be written as 5.0 or 5e0, which the library refuses.
func (f *form) whole(v reflect.Value) error {
	text, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	number, err := strconv.ParseFloat(string(text), 64)
	if err != nil || number != math.Trunc(number) || math.Abs(number) > math.MaxInt32 {
		return f.add(hook.FieldError{Field: fieldPath(f.dec.StackPointer()), Message: "must be " + article(reflect.Int)})
	}
	v.SetInt(int64(number))
	return nil
}

// leaveOut skips a value.
func (f *form) leaveOut(message string) error {
	if err := f.dec.SkipValue(); err != nil {
		return err
	}
	return f.add(hook.FieldError{Field: fieldPath(f.dec.StackPointer()), Message: message})
}

func (f *form) add(e hook.FieldError) error {
	if f.wrong = append(f.wrong, e); len(f.wrong) == f.most {
		return errEnough
	}
	return errLeftOut
}

// members decodes an object into a struct.
func (f *form) members(v reflect.Value) error {
	fields := fieldsOf(v.Type())
	return f.each(func() error {
		name, err := f.name()
		if err != nil {
			return err
		}
		if index, known := fields[string(name)]; known {
			return f.value(v.FieldByIndex(index))
		}
		return f.leaveOut("is not a known field" + suggest(string(name), fields))
	})
}

// entries decodes an object into a map of strings.
func (f *form) entries(v reflect.Value) error {
	v.Set(reflect.MakeMap(v.Type()))
	return f.each(func() error {
		name, err := f.name()
		if err != nil {
			return err
		}
		if v.Len() == maxElements {
			return f.tooMany()
		}
		key, entry := string(name), reflect.New(v.Type().Elem()).Elem()
		err = f.value(entry)
		v.SetMapIndex(reflect.ValueOf(key), entry)
		return err
	})
}

// name decodes the name of a member. The bytes are valid until the next read.
func (f *form) name() ([]byte, error) {
	name, err := f.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1], nil
	}
	return jsontext.AppendUnquote(nil, name)
}

// maxElements is above the limit of every array and map in a body.
const maxElements = 1000

// tooMany stops decoding an array or a map.
func (f *form) tooMany() error {
	f.wrong.Add(fieldPath(f.dec.StackPointer().Parent()), "has more than %d entries", maxElements)
	return errEnough
}

// elements decodes an array into a slice.
func (f *form) elements(v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	return f.each(func() error {
		n := v.Len()
		if n == maxElements {
			return f.tooMany()
		}
		v.Grow(1)
		v.SetLen(n + 1)
		return f.value(v.Index(n))
	})
}

// each calls part for each part of the next object or array.
func (f *form) each(part func() error) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	for kind := f.dec.PeekKind(); kind != '}' && kind != ']'; kind = f.dec.PeekKind() {
		if err := part(); err != nil && !errors.Is(err, errLeftOut) {
			return err
		}
	}
	_, err := f.dec.ReadToken()
	return err
}

// end checks that only white space follows.
func (f *form) end(body []byte) error {
	rest := bytes.TrimLeft(body[f.dec.InputOffset():], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	return &jsontext.SyntacticError{ByteOffset: int64(len(body) - len(rest))}
}

// shapes caches the results of fieldsOf.
var shapes sync.Map //nolint:gochecknoglobals // a function of the type

// fieldsOf returns the indexes of the struct's fields, by their names in JSON.
func fieldsOf(t reflect.Type) map[string][]int {
	if known, ok := shapes.Load(t); ok {
		return known.(map[string][]int) //nolint:errcheck,forcetypeassert // set below
	}
	fields := make(map[string][]int)
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f.Index
		}
	}
	shapes.Store(t, fields)
	return fields
}
