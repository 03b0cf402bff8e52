// Package iam reads the policies of the roles of a deployed stack, and says what they allow and
// which permissions nobody needed.
//
// The package knows only what Surehook's template writes: statements that allow named actions, on
// resources that may end in a wildcard and be in any account, with conditions on
// iam:PassedToService and on another aws:ResourceAccount. [Parse] refuses any other statement.
package iam

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Call is an action on a resource that the policies of a role must allow. One request can make
// several calls.
type Call struct {
	Action   string // sqs:SendMessage
	Resource string // ARN
	PassedTo string // the service that gets the role, for iam:PassRole; empty for other actions
}

// String returns the call in words.
func (c Call) String() string { return c.Action + " on " + c.Resource }

// Grant permits one action on one resource.
type Grant struct {
	Action   string
	Resource string   // ARN; the account may be "*", and the end too
	PassedTo []string // the services that a condition on iam:PassedToService names; nil: no condition
	NotIn    []string // the accounts that a condition on aws:ResourceAccount excludes; nil: no condition
}

// String returns the grant in words.
func (g Grant) String() string { return g.Action + " on " + g.Resource }

// allows reports whether the grant permits the call.
func (g Grant) allows(c Call) bool {
	return g.Action == c.Action && matches(g.Resource, c.Resource) &&
		(g.PassedTo == nil || slices.Contains(g.PassedTo, c.PassedTo)) && !slices.Contains(g.NotIn, accountOf(c.Resource))
}

// accountOf returns the account in an ARN.
func accountOf(resource string) string {
	parts := strings.SplitN(resource, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	return parts[4]
}

// matches reports whether the grant includes the resource: "*" stands for any text at the end, and
// for any account.
func matches(granted, resource string) bool {
	if service, rest, ok := strings.Cut(granted, anyAccount); ok {
		before, after, found := strings.Cut(resource, "::")
		_, name, _ := strings.Cut(after, ":")
		return found && before == service && matches(rest, name)
	}
	prefix, wild := strings.CutSuffix(granted, "*")
	return granted == resource || wild && strings.HasPrefix(resource, prefix)
}

// anyAccount is the part of an ARN without a region that stands for any account.
const anyAccount = "::*:"

// Role is a role with its grants.
type Role struct {
	Name    string
	Account string // id of the role's account
	Grants  []Grant
}

// Allows reports whether the role may make the call.
func (r *Role) Allows(c Call) bool {
	return slices.ContainsFunc(r.Grants, func(g Grant) bool { return g.allows(c) })
}

// Refused returns for each grant how many of the calls the role could not make without it, given
// the number of times each call was made. With 0, nobody needs the grant, or another one allows the
// same calls.
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

// errForm reports a statement of another form than the template's.
var errForm = errors.New("the statement has a form that package iam does not know")

// Parse returns the grants of a policy document in JSON, one for each action on each resource. It
// returns an error for a statement of another form, see the package comment.
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
		to, notIn := s.Condition["StringEquals"]["iam:PassedToService"], s.Condition["StringNotEquals"]["aws:ResourceAccount"]
		if s.Condition != nil {
			if len(s.Condition) != 1 || len(s.Condition["StringEquals"])+len(s.Condition["StringNotEquals"]) != 1 || len(to)+len(notIn) == 0 {
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
				grants = append(grants, Grant{Action: action, Resource: resource, PassedTo: to, NotIn: notIn})
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
	return json.Unmarshal(raw, (*[]string)(o))
}
