// Package iam reads the policies of a deployed stack's roles, says what they allow, and
// says which permissions nobody needed.
//
// The package knows the policies that Surehook's template writes: allowing statements
// with named actions, resources that may end in a wildcard and be in any account, and conditions on
// iam:PassedToService. [Parse] refuses any other statement.
package iam

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Call is a question that AWS asks the policies of a role: may the role do this? One
// request can ask more than one question.
type Call struct {
	Action   string // sqs:SendMessage
	Resource string // ARN
	PassedTo string // of iam:PassRole: the service that gets the role
}

// String returns the call in words.
func (c Call) String() string { return c.Action + " on " + c.Resource }

// Grant permits one action on one resource.
type Grant struct {
	Action   string
	Resource string   // ARN, possibly with "*" at the end, and as the account
	PassedTo []string // the services of a condition on iam:PassedToService; nil: no condition
}

// String returns the grant in words.
func (g Grant) String() string { return g.Action + " on " + g.Resource }

// allows reports whether the grant permits the call.
func (g Grant) allows(c Call) bool {
	return g.Action == c.Action && matches(g.Resource, c.Resource) &&
		(g.PassedTo == nil || slices.Contains(g.PassedTo, c.PassedTo))
}

// matches reports whether the resource is the granted one: "*" is any text at the end, or
// any account.
func matches(granted, resource string) bool {
	if service, rest, ok := strings.Cut(granted, anyAccount); ok {
		before, after, found := strings.Cut(resource, "::")
		_, name, _ := strings.Cut(after, ":")
		return found && before == service && matches(rest, name)
	}
	prefix, wild := strings.CutSuffix(granted, "*")
	return granted == resource || wild && strings.HasPrefix(resource, prefix)
}

// anyAccount is the part of the ARN of a role in any account.
const anyAccount = "::*:"

// Role is a role with its grants.
type Role struct {
	Name    string
	Account string
	Grants  []Grant
}

// Allows reports whether the role may make the call.
func (r *Role) Allows(c Call) bool {
	return slices.ContainsFunc(r.Grants, func(g Grant) bool { return g.allows(c) })
}

// Refused returns for each grant the number of the calls that the role could not make
// without the grant. Nobody needs a grant with 0.
func (r *Role) Refused(calls map[Call]int) []int {
	refused := make([]int, len(r.Grants))
	for i := range r.Grants {
		rest := Role{Grants: slices.Delete(slices.Clone(r.Grants), i, i+1)}
		for c, n := range calls {
			if r.Allows(c) && !rest.Allows(c) {
				refused[i] += n
			}
		}
	}
	return refused
}

// errForm marks a statement of another form than the template's.
var errForm = errors.New("the statement has a form that package iam does not know")

// Parse returns the grants of a policy document.
func Parse(document string) ([]Grant, error) {
	var policy struct {
		Statement []struct {
			Effect      string                          `json:"Effect"`
			Action      oneOrMore                       `json:"Action"`
			NotAction   any                             `json:"NotAction"`
			Resource    oneOrMore                       `json:"Resource"`
			NotResource any                             `json:"NotResource"`
			Condition   map[string]map[string]oneOrMore `json:"Condition"`
		} `json:"Statement"`
	}
	if err := json.Unmarshal([]byte(document), &policy); err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	var grants []Grant
	for _, s := range policy.Statement {
		var to []string
		if s.Condition != nil {
			to = s.Condition["StringEquals"]["iam:PassedToService"]
			if len(s.Condition) != 1 || len(s.Condition["StringEquals"]) != 1 || len(to) == 0 {
				return nil, fmt.Errorf("%w: condition %v", errForm, s.Condition)
			}
		}
		if s.Effect != "Allow" || s.NotAction != nil || s.NotResource != nil || strings.Contains(strings.Join(s.Action, ""), "*") {
			return nil, fmt.Errorf("%w: %s %v %v", errForm, s.Effect, s.Action, s.Resource)
		}
		for _, resource := range s.Resource {
			if strings.Contains(strings.Replace(strings.TrimSuffix(resource, "*"), anyAccount, "", 1), "*") {
				return nil, fmt.Errorf("%w: resource %s", errForm, resource)
			}
			for _, action := range s.Action {
				grants = append(grants, Grant{Action: action, Resource: resource, PassedTo: to})
			}
		}
	}
	return grants, nil
}

// oneOrMore is a JSON string, or a list of strings.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMore{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(o)) //nolint:wrapcheck // Parse wraps
}
