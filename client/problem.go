package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"surehook/client/openapi"
)

// maxProblem is the largest body of an error that is read, in bytes.
const maxProblem = 1 << 20

// Problem is an error of the API. Code identifies the problem. The code is empty for a
// request refused by API Gateway, which has a body of its own.
type Problem struct { //nolint:errname // the name in the contract
	Status int
	Code   openapi.ProblemCode
	Detail string
	Fields []openapi.FieldError // of an invalid request
}

// Error returns the status, the code, the detail and the wrong fields.
func (p *Problem) Error() string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%d %s: %s", p.Status, cmp.Or(string(p.Code), "from API Gateway"), p.Detail)
	for _, f := range p.Fields {
		b.WriteString("; " + f.Field + " " + f.Message)
	}
	return b.String()
}

// problemOf reads the problem in a response and closes the body.
func problemOf(r *http.Response) *Problem {
	defer func() { _ = r.Body.Close() }()
	p := &Problem{Status: r.StatusCode, Detail: http.StatusText(r.StatusCode)}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxProblem))
	if err != nil {
		return p
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/problem+json") {
		var body openapi.Problem
		if json.Unmarshal(raw, &body) == nil {
			p.Code, p.Detail = body.Code, body.Detail
			if body.Errors != nil {
				p.Fields = *body.Errors
			}
		}
		return p
	}
	var body struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &body) == nil && body.Message != "" {
		p.Detail = body.Message
	}
	return p
}
