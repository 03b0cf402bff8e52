package strict

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Violation is a rule that requests broke.
type Violation struct {
	Service   string // as in signatures: sqs
	Operation string // SendMessage
	Code      string // of the answer: InvalidParameterValue
	Message   string
	Count     int // requests
}

// String returns the violation in one line.
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s: %s (requests: %d)", v.Service, v.Operation, v.Code, v.Message, v.Count)
}

// ErrViolations marks the error of a run with violations.
var ErrViolations = errors.New("requests broke AWS's rules")

// Violations returns the violations so far, in a fixed order.
func (f *Front) Violations() []Violation {
	f.mu.Lock()
	defer f.mu.Unlock()

	all := slices.Clone(f.violations)
	slices.SortFunc(all, func(a, b Violation) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// violation records the violation and answers like the service.
func (f *Front) violation(w http.ResponseWriter, c *call, r *refusal) {
	f.record(Violation{Service: c.service, Operation: c.operation, Code: r.code, Message: r.message, Count: 1})
	r.write(w, c.model)
}

func (f *Front) record(v Violation) {
	f.mu.Lock()
	defer f.mu.Unlock()

	fmt.Fprintf(f.opts.Log, "%s %s\n", f.opts.Now().UTC().Format("15:04:05.000"), v) //nolint:errcheck // Stop reports the violation, too
	for i, known := range f.violations {
		if known.Service == v.Service && known.Operation == v.Operation && known.Message == v.Message {
			f.violations[i].Count++
			return
		}
	}
	f.violations = append(f.violations, v)
}

// verdict returns the violations as an error, or nil.
func (f *Front) verdict() error {
	all := f.Violations()
	if len(all) == 0 {
		return nil
	}
	var text strings.Builder
	for _, v := range all {
		text.WriteString("\n\t" + v.String())
	}
	return fmt.Errorf("%w:%s", ErrViolations, text.String())
}
