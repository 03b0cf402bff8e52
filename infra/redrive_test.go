package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeAWS answers as the AWS CLI for queue names and URLs, and records the move.
const fakeAWS = `#!/bin/sh
case "$2" in
get-queue-url) echo "https://sqs/$4" ;;
get-queue-attributes) echo "arn:aws:sqs:eu-west-1:123456789012:${4#https://sqs/}" ;;
*) echo "$@" >> "$(dirname "$0")/moves" ;;
esac
`

// TestRedrive checks the request of `make redrive`. No emulator of this repository has
// the operation StartMessageMoveTask.
func TestRedrive(t *testing.T) {
	t.Parallel()

	const arn = "arn:aws:sqs:eu-west-1:123456789012:"
	tests := []struct {
		name string
		args []string
		env  string
		want string
	}{
		{name: "each message to its queue", args: []string{"ENV=prod"}, want: "sqs start-message-move-task --source-arn " + arn + "surehook-prod-undeliverable"},
		{
			name: "all messages to one queue", args: []string{"ENV=dev", "QUEUE=retry"},
			want: "sqs start-message-move-task --source-arn " + arn + "surehook-dev-undeliverable --destination-arn " + arn + "surehook-dev-retry",
		},
		{name: "of another stack", args: []string{"ENV=dev", "PREFIX=shop"}, want: "sqs start-message-move-task --source-arn " + arn + "shop-undeliverable"},
		{name: "of another stack, by the environment", args: []string{"ENV=dev"}, env: "shop", want: "sqs start-message-move-task --source-arn " + arn + "shop-undeliverable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "aws"), []byte(fakeAWS), 0o700); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "make", append([]string{"--directory=..", "redrive"}, tt.args...)...)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "MAKEFLAGS=", "MAKEOVERRIDES=", "PREFIX="+tt.env)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("make redrive %v: %v\n%s", tt.args, err, out)
			}
			moves, err := os.ReadFile(filepath.Join(bin, "moves"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.TrimSpace(string(moves))); diff != "" {
				t.Errorf("make redrive %v (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}
