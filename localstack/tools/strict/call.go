package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// call is a request to a service with a model.
type call struct {
	service   string // as in signatures
	model     *model
	operation string
	input     object
	faults    []string // of the decoding
}

// object is a structure or a map of a request, by names on the wire. Numbers
// are json.Number.
type object map[string]any

func (o object) text(name string) string { s, _ := o[name].(string); return s }

func (o object) is(name string) bool { b, _ := o[name].(bool); return b }

func (o object) has(name string) bool { return o[name] != nil }

// number returns the integer and whether there is one.
func (o object) number(name string) (int64, bool) {
	n, ok := o[name].(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

func (o object) object(name string) object { m, _ := o[name].(map[string]any); return m }

func (o object) list(name string) []object {
	items, _ := o[name].([]any)
	objects := make([]object, 0, len(items))
	for _, item := range items {
		m, _ := item.(map[string]any)
		objects = append(objects, m)
	}
	return objects
}

// signature is the scope of a request's signature.
type signature struct{ key, region, service string }

// scope returns the scope of the request's signature. The scope is empty for requests
// that are not AWS requests, such as those to the HTTP API.
func scope(r *http.Request) signature {
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	credential, _, _ = strings.Cut(credential, ",")
	parts := strings.Split(credential, "/") // key, date, region, service, aws4_request
	if len(parts) != 5 {
		return signature{}
	}
	return signature{key: parts[0], region: parts[2], service: parts[3]}
}

// service returns the service in the request's signature, such as sqs.
func service(r *http.Request) string { return scope(r).service }

// decode returns the call of a request to the model's service, or an error if
// the service does not have the operation or the body is not readable.
func (m *model) decode(r *http.Request, body []byte) (*call, error) {
	c := &call{service: service(r), model: m, input: object{}}
	var err error
	switch m.Metadata.Protocol {
	case "json":
		err = c.decodeJSON(r.Header.Get("X-Amz-Target"), body)
	case "rest-json":
		err = c.decodeREST(r, body)
	case "query":
		err = c.decodeQuery(body)
	default:
		err = fmt.Errorf("protocol %q is not supported by the front", m.Metadata.Protocol)
	}
	return c, err
}

func (c *call) decodeJSON(target string, body []byte) error {
	prefix, name, _ := strings.Cut(target, ".")
	if prefix != c.model.Metadata.TargetPrefix || c.model.Operations[name] == nil {
		return fmt.Errorf("there is no operation %q", target)
	}
	c.operation = name
	return unmarshal(body, &c.input)
}

func unmarshal(body []byte, into *object) error {
	if len(body) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode((*map[string]any)(into)); err != nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if *into == nil {
		return errors.New("the body is null, not a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("the body has more than a JSON object: %w", err)
	}
	return nil
}

// decodeREST finds the operation by method and path, and adds the members in
// path and query to the members of the body.
func (c *call) decodeREST(r *http.Request, body []byte) error {
	var labels []string
	for name, op := range c.model.Operations {
		found := op.path.FindStringSubmatch(r.URL.EscapedPath())
		if op.HTTP.Method == r.Method && found != nil {
			c.operation, labels = name, found
			break
		}
	}
	if c.operation == "" {
		return fmt.Errorf("there is no operation at %s %s", r.Method, r.URL.Path)
	}
	if err := unmarshal(body, &c.input); err != nil {
		return err
	}
	op := c.model.Operations[c.operation]
	if op.Input == nil {
		return nil
	}
	query := r.URL.Query()
	for name, ref := range c.model.Shapes[op.Input.Shape].Members {
		wire := ref.wire(name)
		switch ref.Location {
		case "uri":
			value, err := url.PathUnescape(labels[op.path.SubexpIndex(wire)])
			if err != nil {
				return fmt.Errorf("read %s in the path: %w", wire, err)
			}
			c.input[wire] = value
		case "querystring":
			if query.Has(wire) {
				c.input[wire] = c.scalar(ref, query[wire])
				query.Del(wire)
			}
		}
	}
	for name := range query {
		c.faults = append(c.faults, fmt.Sprintf("Parameter '%s' is not in the service model", name))
	}
	return nil
}

// scalar turns text into a value of the shape.
func (c *call) scalar(ref reference, texts []string) any {
	switch c.model.Shapes[ref.Shape].Type {
	case "list":
		var items []any
		for _, text := range texts {
			items = append(items, text)
		}
		return items
	case "integer", "long", "float", "double":
		return json.Number(texts[0])
	case "boolean":
		if b, err := strconv.ParseBool(texts[0]); err == nil {
			return b
		}
	}
	return texts[0]
}

// decodeQuery reads the form of the query protocol.
func (c *call) decodeQuery(body []byte) error {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return fmt.Errorf("the body is not a form: %w", err)
	}
	c.operation = form.Get("Action")
	op := c.model.Operations[c.operation]
	if op == nil {
		return fmt.Errorf("there is no operation %q", c.operation)
	}
	form.Del("Action")
	form.Del("Version")
	if op.Input != nil {
		value, _ := c.formValue(form, "", *op.Input).(map[string]any)
		c.input = value
	}
	for name := range form {
		c.faults = append(c.faults, fmt.Sprintf("Parameter '%s' is not in the service model", name))
	}
	return nil
}

// formValue removes the shape's parameters from the form and returns them as a
// value; nil if there are none.
func (c *call) formValue(form url.Values, prefix string, ref reference) any {
	s := c.model.Shapes[ref.Shape]
	switch s.Type {
	case "structure":
		fields := map[string]any{}
		for _, name := range s.names() {
			wire := s.Members[name].wire(name)
			if v := c.formValue(form, dotted(prefix, wire), s.Members[name]); v != nil {
				fields[wire] = v
			}
		}
		if len(fields) == 0 && prefix != "" {
			return nil
		}
		return fields
	case "list":
		return c.formList(form, prefix, s)
	case "map":
		return c.formMap(form, prefix, s)
	}
	if !form.Has(prefix) {
		return nil
	}
	text := form[prefix]
	form.Del(prefix)
	return c.scalar(ref, text)
}

func (c *call) formList(form url.Values, prefix string, s *shape) any {
	if !s.Flattened {
		prefix = dotted(prefix, s.Member.wire("member"))
	}
	var items []any
	for n := 1; ; n++ {
		item := c.formValue(form, dotted(prefix, strconv.Itoa(n)), *s.Member)
		if item == nil {
			break
		}
		items = append(items, item)
	}
	if items == nil {
		return nil
	}
	return items
}

func (c *call) formMap(form url.Values, prefix string, s *shape) any {
	if !s.Flattened {
		prefix = dotted(prefix, "entry")
	}
	entries := map[string]any{}
	for n := 1; ; n++ {
		at := dotted(prefix, strconv.Itoa(n))
		key, ok := c.formValue(form, dotted(at, s.Key.wire("key")), *s.Key).(string)
		if !ok {
			break
		}
		entries[key] = c.formValue(form, dotted(at, s.Value.wire("value")), *s.Value)
	}
	if len(entries) == 0 {
		return nil
	}
	return entries
}

func dotted(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// check returns the first rule that the call breaks, or nil. The model comes
// first, as in the services.
func (c *call) check() *refusal {
	faults := c.faults
	if op := c.model.Operations[c.operation]; op.Input != nil {
		faults = append(faults, c.model.validate(op.Input.Shape, "", map[string]any(c.input))...)
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	plural := "s"
	if len(faults) == 1 {
		plural = ""
	}
	return &refusal{
		code:    modelCode(c.service),
		message: fmt.Sprintf("%d validation error%s detected: %s", len(faults), plural, strings.Join(faults, "; ")),
	}
}

// modelCode is the error code for a request that its model does not allow.
func modelCode(service string) string {
	switch service {
	case "sqs":
		return "InvalidParameterValue"
	case "sns":
		return "InvalidParameter"
	case "secretsmanager":
		return "InvalidParameterException"
	}
	return "ValidationException"
}

// matches reports whether the whole text has the pattern.
func matches(pattern, text string) bool {
	return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(text)
}
