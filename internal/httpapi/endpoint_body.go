package httpapi

import (
	"fmt"
	"strings"
	"time"

	"surehook.example/surehook/internal/admin/endpoint"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/rule/retry"
)

// createBody adds the fields allowed only at creation.
type createBody struct {
	endpoint.Fields
	Secret *secret `json:"secret"`
}

// retryBody, exponentialBody and coalesceBody are settings in a request. Absent fields are nil.
type retryBody struct {
	Preset      *string          `json:"preset"`
	Schedule    *[]time.Duration `json:"schedule"`
	Exponential *exponentialBody `json:"exponential"`
	Jitter      *hook.Jitter     `json:"jitter"`
}

// coalesceBody replaces the settings as a whole.
type coalesceBody struct {
	Window    *time.Duration `json:"window"`
	MaxEvents *int           `json:"max_events"`
	MaxBytes  *int           `json:"max_bytes"`
}

type exponentialBody struct {
	Base     *time.Duration `json:"base"`
	Factor   *float64       `json:"factor"`
	Cap      *time.Duration `json:"cap"`
	Attempts *int           `json:"attempts"`
}

// settings returns the settings. A window of 0 means one request per event.
func (b coalesceBody) settings() (c *hook.Coalescing, wrong hook.Fields) {
	c = new(hook.Coalescing)
	if b.Window == nil {
		wrong.Add("coalesce.window", "is missing")
		return c, wrong
	}
	if *b.Window == 0 {
		return c, nil
	}
	set(&c.Window, b.Window)
	*c = c.WithDefaults()
	set(&c.MaxEvents, b.MaxEvents)
	set(&c.MaxBytes, b.MaxBytes)
	return c, nil
}

func (b retryBody) policy() (p *hook.RetryPolicy, errs hook.Fields) {
	p = new(hook.RetryPolicy)
	forms := 0
	for _, given := range []bool{b.Preset != nil, b.Schedule != nil, b.Exponential != nil} {
		if given {
			forms++
		}
	}
	switch {
	case forms != 1:
		errs.Add("retry", "must have exactly one of preset, schedule and exponential")
		return p, errs
	case b.Preset != nil && *b.Preset == "":
		errs.Add("retry.preset", "must be one of %s", strings.Join(retry.Presets(), ", "))
	case b.Exponential != nil:
		p.Exponential, errs = b.Exponential.delays()
	}
	set(&p.Preset, b.Preset)
	set(&p.Schedule, b.Schedule)
	if b.Preset == nil {
		p.Jitter = hook.JitterFull
	}
	set(&p.Jitter, b.Jitter)
	return p, errs
}

// delays returns the delays. All fields are required.
func (b exponentialBody) delays() (e hook.Exponential, wrong hook.Fields) {
	require(&wrong, "retry.exponential.base", &e.Base, b.Base)
	require(&wrong, "retry.exponential.factor", &e.Factor, b.Factor)
	require(&wrong, "retry.exponential.cap", &e.Cap, b.Cap)
	require(&wrong, "retry.exponential.attempts", &e.Attempts, b.Attempts)
	if e == (hook.Exponential{}) { // the zero value would mean that there is no exponential
		e.Attempts = 1
	}
	return e, wrong
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// require is set for a field that must be given.
func require[T any](wrong *hook.Fields, field string, to, from *T) {
	wrong.Refuse(from == nil, field, "is missing")
	set(to, from)
}

// choose returns the value among all that has the name.
func choose[T fmt.Stringer](field, name string, all ...T) (T, []hook.FieldError) {
	words := make([]string, len(all))
	for i, t := range all {
		if t.String() == name {
			return t, nil
		}
		words[i] = t.String()
	}
	var none T
	return none, []hook.FieldError{{Field: field, Message: "must be one of " + strings.Join(words, ", ")}}
}
