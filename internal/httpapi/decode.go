package httpapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"surehook/internal/hook"
)

// Bounds of request bodies, in bytes.
const (
	maxBody      = 64 << 10
	maxEventBody = hook.MaxPayload + 16<<10 // a payload and what goes with it
)

// decode reads the request's body, a JSON object, into v. It takes nothing
// that could be meant otherwise: unknown and repeated names, null where a value
// belongs, text after the object and text that is no UTF-8 are errors that name
// the field.
func decode(c *call, limit int64, v any) error {
	body, err := read(c, limit)
	if err != nil {
		return err
	}
	return unmarshal(body, v)
}

// decodeOptional is decode for a body of at most maxBody that may be left out.
func decodeOptional(c *call, v any) error {
	body, err := read(c, maxBody)
	if err != nil || len(body) == 0 {
		return err
	}
	return unmarshal(body, v)
}

func read(c *call, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, limit))
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

func unmarshal(body []byte, v any) error {
	if len(body) == 0 {
		return hook.Invalid(hook.FieldError{Field: "body", Message: "is missing"})
	}
	err := json.Unmarshal(body, v, json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(refuseNull)))
	if err != nil {
		return hook.Invalid(explain(err))
	}
	return nil
}

// refuseNull is asked before every value. The decoder takes null for any zero
// value; only a payload may be null.
func refuseNull(dec *jsontext.Decoder, v any) error {
	if _, isPayload := v.(*jsontext.Value); !isPayload && dec.PeekKind() == 'n' {
		return wrong("must not be null")
	}
	return errors.ErrUnsupported // tells the decoder to go on by itself
}
