package surehook

import (
	"slices"
	"testing"
)

// Deliver may assume the roles with the path, and no other function may assume a role.
func TestDestinations(t *testing.T) {
	t.Parallel()

	const roles = `arn:${AWS::Partition}:iam::*:role/surehook/* if {"StringNotEquals":{"aws:ResourceAccount":{"Ref":"AWS::AccountId"}}}`
	tpl := templateOf(t, "custom")
	for role, grants := range grantsOf(t, tpl) {
		for on, actions := range grants {
			if assumes := slices.Contains(actions, "sts:AssumeRole"); assumes != (on == roles) || assumes && role != "DeliverRole" {
				t.Errorf("%s may %v on %s", role, actions, on)
			}
		}
	}
	for _, id := range []string{"Deliver", "Manage"} {
		got := variables(tpl.get(t, "AWS::Lambda::Function", id))
		if got["SUREHOOK_DESTINATIONS"] != "/surehook/" || got["SUREHOOK_ACCOUNT"] != "${AWS::AccountId}" {
			t.Errorf("%s has the path %q and the account %q", id, got["SUREHOOK_DESTINATIONS"], got["SUREHOOK_ACCOUNT"])
		}
	}
	if got := variables(tpl.get(t, "AWS::Lambda::Function", "Manage"))["SUREHOOK_PRINCIPAL"]; got != "${DeliverRole.Arn}" {
		t.Errorf("manage names the principal %s; want the role of deliver", got)
	}
	if len(grantsOf(t, tpl)["DeliverRole"][roles]) != 1 {
		t.Error("deliver may assume no role")
	}
}
