package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeploy checks the calls of the AWS CLI that deploy.sh makes. `make test/release` runs the
// script against an emulator, which has no termination protection.
func TestDeploy(t *testing.T) {
	t.Parallel()

	upload := "s3 cp --only-show-errors deliver.zip s3://assets/surehook/v1.2.3/deliver.zip\n"
	deploy := func(stack, env, parameters string) string {
		return "cloudformation deploy --stack-name " + stack + " --template-file surehook-" + env + ".template.json --s3-bucket assets --s3-prefix surehook/v1.2.3" +
			" --capabilities CAPABILITY_IAM --no-fail-on-empty-changeset --tags surehook:environment=" + env + " surehook:version=v1.2.3" +
			" --parameter-overrides AssetsBucket=assets AssetsPrefix=surehook/v1.2.3" + parameters + "\n"
	}
	protect := func(stack string) string {
		return "cloudformation update-termination-protection --enable-termination-protection --stack-name " + stack + "\n"
	}
	outputs := func(stack string) string {
		return "cloudformation describe-stacks --stack-name " + stack + " --query Stacks[0].Outputs[].[OutputKey,OutputValue] --output text\n"
	}
	tests := []struct {
		name     string
		args     []string
		spoil    string // a file whose checksum is wrong
		want     string // the calls
		wantFail string // a part of the error, before any call
	}{
		{name: "prod is protected", args: []string{"--bucket", "assets"}, want: upload + deploy("surehook-prod", "prod", "") + protect("surehook-prod") + outputs("surehook-prod")},
		{
			name: "another stack, with parameters", args: []string{"--bucket", "assets", "--environment", "dev", "--stack", "hooks", "AlarmEmail=", "PortalName=A shop's hooks"},
			want: upload + deploy("hooks", "dev", " AlarmEmail= PortalName=A shop's hooks") + outputs("hooks"),
		},
		{name: "no bucket", wantFail: "--bucket"},
		{name: "an option without a value", args: []string{"--bucket"}, wantFail: "--bucket needs a value"},
		{name: "an unknown option", args: []string{"--bucket", "assets", "--region", "eu-west-1"}, wantFail: "--region is not an option"},
		{name: "an unknown environment", args: []string{"--bucket", "assets", "--environment", "test"}, wantFail: "no template surehook-test.template.json"},
		{name: "a stack whose name cannot be a prefix", args: []string{"--bucket", "assets", "--stack", "Hooks"}, wantFail: "the stack Hooks is not"},
		{name: "a parameter that the script sets", args: []string{"--bucket", "assets", "AssetsPrefix=x"}, wantFail: "AssetsPrefix comes from"},
		{name: "a spoiled download", args: []string{"--bucket", "assets"}, spoil: "deliver.zip", wantFail: "download the release again"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			bin := t.TempDir()
			calls := filepath.Join(bin, "calls")
			folder := unpackRelease(t, tt.spoil)
			if err := os.WriteFile(filepath.Join(bin, "aws"), []byte("#!/bin/sh\necho \"$@\" >> \""+calls+"\"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(folder, "deploy.sh")}, tt.args...)...)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			got, _ := os.ReadFile(calls) // without a call there is no file
			if failed := err != nil; failed != (tt.wantFail != "") || !strings.Contains(string(out), tt.wantFail) {
				t.Errorf("deploy.sh %q: %v; want an error with %q\n%s", tt.args, err, tt.wantFail, out)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("deploy.sh %q (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}

// unpackRelease makes the folder of a release v1.2.3 with one function, and returns its path.
func unpackRelease(t *testing.T, spoil string) string {
	t.Helper()

	script, err := os.ReadFile("deploy.sh")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var sums strings.Builder
	for name, content := range map[string]string{
		"deploy.sh":   strings.ReplaceAll(string(script), "@VERSION@", "v1.2.3"),
		"deliver.zip": "a function", "surehook-dev.template.json": "{}", "surehook-prod.template.json": "{}",
	} {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(content)), name)
		if name == spoil {
			content += " of another version"
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&sums, "%x  surehook-linux-amd64.tar.gz\n", sha256.Sum256(nil)) // not downloaded
	if err := os.WriteFile(filepath.Join(folder, "checksums.txt"), []byte(sums.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
