package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook/internal/hook"
)

// Maximum size of request bodies, in bytes.
const (
	maxBody      = 64 << 10
	maxEventBody = hook.MaxPayload + 16<<10 // the payload and 16 KiB for the other fields
)

// maxWrong limits the fields of a wrong form in one answer: each costs a pass over the body.
const maxWrong = 20

// decode decodes the request's body, a JSON object, into v. Unknown and repeated
// names, null instead of a value, text after the object and invalid UTF-8 are
// errors with the names of all wrong fields.
func decode(c *call, limit int64, v any) error {
	wrong, err := decodeForm(c, limit, v)
	if err == nil && len(wrong) > 0 {
		err = hook.Invalid(wrong...)
	}
	return err
}

// decodeForm is decode for a caller with further checks: the fields of a wrong form are
// no error, and are absent in v. The caller refuses the request with these and with the
// fields found by the further checks.
func decodeForm(c *call, limit int64, v any) (fieldErrors, error) {
	body, err := read(c, limit)
	if err != nil {
		return nil, err
	}
	return unmarshal(body, v)
}

// decodeOptional is decode for an optional body of at most maxBody bytes.
func decodeOptional(c *call, v any) error {
	body, err := read(c, maxBody)
	if err != nil || len(body) == 0 {
		return err
	}
	wrong, err := unmarshal(body, v)
	if err == nil && len(wrong) > 0 {
		err = hook.Invalid(wrong...)
	}
	return err
}

func read(c *call, limit int64) ([]byte, error) {
	var text bytes.Buffer
	text.Grow(int(min(max(c.r.ContentLength, 0), limit)) + bytes.MinRead) // a buffer that grows later is copied
	_, err := text.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, limit))
	body := text.Bytes()
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

// unmarshal decodes the body into v and returns the fields of a wrong form. An error
// means that the body is not one JSON object.
//
// The decoder stops at the first wrong field. So unmarshal decodes again, without the
// fields found so far, until the rest of the body is right.
func unmarshal(body []byte, v any) (fieldErrors, error) {
	if len(body) == 0 {
		return nil, hook.Invalid(hook.FieldError{Field: "body", Message: "is missing"})
	}
	var wrong fieldErrors
	f, options := form{wrong: make(map[jsontext.Pointer]bool)}, firstPass
	for {
		reflect.ValueOf(v).Elem().SetZero() // a pass that fails leaves values
		err := json.Unmarshal(body, v, options)
		if err == nil {
			return wrong, nil
		}
		semantic, ok := errors.AsType[*json.SemanticError](err)
		if !ok || semantic.JSONPointer == "" {
			return nil, hook.Invalid(explain(err))
		}
		wrong = append(wrong, explain(err))
		switch {
		case len(wrong) == maxWrong:
			return nil, hook.Invalid(wrong...)
		case errors.Is(err, json.ErrUnknownName):
			if body, err = without(body, semantic.JSONPointer); err != nil {
				return nil, hook.Invalid(explain(err))
			}
		default:
			f.wrong[semantic.JSONPointer] = true
			options = f.options()
		}
	}
}

// form checks the values of a body before their decoding.
type form struct {
	wrong map[jsontext.Pointer]bool // values to leave out
}

// firstPass is shared by all bodies: the options keep what they know of the types.
var firstPass = form{}.options() //nolint:gochecknoglobals // a constant, as regular expressions are

// options decode a form.
func (f form) options() json.Options {
	return json.JoinOptions(json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(f.check)))
}

// check leaves out a value known as wrong, and refuses null for every value except a
// payload. The decoder calls check before every value and would otherwise decode null
// as the zero value.
func (f form) check(dec *jsontext.Decoder, v any) error {
	if len(f.wrong) > 0 && f.wrong[nextValue(dec)] {
		return dec.SkipValue() //nolint:wrapcheck // the decoder's own error
	}
	if _, isPayload := v.(*jsontext.Value); !isPayload && dec.PeekKind() == 'n' {
		return wrong("must not be null")
	}
	return errors.ErrUnsupported // makes the decoder continue as usual
}

// nextValue returns the place of the value that the decoder reads next.
func nextValue(dec *jsontext.Decoder) jsontext.Pointer {
	at := dec.StackPointer()
	if kind, read := dec.StackIndex(dec.StackDepth()); kind == '[' {
		if read > 0 { // the pointer is of the value before
			at = at.Parent()
		}
		at += jsontext.Pointer("/" + strconv.FormatInt(read, 10))
	}
	return at
}

// without returns the body without the member of an object.
func without(body []byte, member jsontext.Pointer) ([]byte, error) {
	var rest bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(body)), jsontext.NewEncoder(&rest)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return rest.Bytes(), nil
		}
		if err != nil {
			return nil, err //nolint:wrapcheck // the decoder's own error
		}
		isName := token.Kind() == '"' && dec.StackPointer() == member
		if kind, read := dec.StackIndex(dec.StackDepth()); isName && kind == '{' && read%2 == 1 {
			if err := dec.SkipValue(); err != nil {
				return nil, err //nolint:wrapcheck // as above
			}
			continue
		}
		if err := enc.WriteToken(token); err != nil {
			return nil, err //nolint:wrapcheck // as above
		}
	}
}
