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

// Maximum size of request bodies, in bytes.
const (
	maxBody      = 64 << 10
	maxEventBody = hook.MaxPayload + 16<<10 // the payload and 16 KiB for the other fields
)

// decode decodes the request's body, a JSON object, into v. Unknown and repeated
// names, null instead of a value, text after the object and invalid UTF-8 are
// errors with the name of the field.
func decode(c *call, limit int64, v any) error {
	body, err := read(c, limit)
	if err != nil {
		return err
	}
	return unmarshal(body, v)
}

// decodeOptional is decode for an optional body of at most maxBody bytes.
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

// refuseNull refuses null for every value except a payload. The decoder calls
// refuseNull before every value and would otherwise decode null as the zero value.
func refuseNull(dec *jsontext.Decoder, v any) error {
	if _, isPayload := v.(*jsontext.Value); !isPayload && dec.PeekKind() == 'n' {
		return wrong("must not be null")
	}
	return errors.ErrUnsupported // makes the decoder continue as usual
}
