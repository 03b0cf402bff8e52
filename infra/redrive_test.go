package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeAWS answers like the AWS CLI for outputs, queues and their ARNs, and records the calls that
// change something. get-queue-url finds no queue before create-queue.
const fakeAWS = `#!/bin/sh
home=$(dirname "$0")
case "$2" in
describe-stacks) echo "https://sqs/$4-$(echo "$6" | sed "s/.*OutputKey=='\([A-Za-z]*\)'.*/\1/")" ;;
get-queue-attributes) echo "arn:aws:sqs:eu-west-1:123456789012:${4#https://sqs/}" ;;
get-queue-url) [ -e "$home/made" ] && echo "https://sqs/$4" ;;
*)
	echo "$@" >> "$home/calls"
	[ "$2" != create-queue ] || { touch "$home/made"; echo "https://sqs/$4"; } ;;
esac
`

// TestRedrive checks the calls of the AWS CLI that `make redrive` makes, because no emulator here has
// the operation StartMessageMoveTask.
func TestRedrive(t *testing.T) {
	t.Parallel()

	const (
		move = "sqs start-message-move-task --source-arn arn:aws:sqs:eu-west-1:123456789012:"
		to   = " --destination-arn arn:aws:sqs:eu-west-1:123456789012:"
	)
	both := func(stack string) string {
		return move + stack + "-UndeliverableUrl\n" + move + stack + "-UndeliverableRetryUrl" + to + stack + "-RetryQueueUrl"
	}
	tests := []struct {
		name string
		args []string
		env  string
		want string
	}{
		{name: "messages go back to their queues, and those of the Scheduler and the retry queue to the retry queue", args: []string{"ENV=prod"}, want: both("surehook-prod")},
		{name: "another stack", args: []string{"ENV=dev", "PREFIX=shop"}, want: both("shop")},
		{name: "another stack, named in the environment", args: []string{"ENV=dev"}, env: "shop", want: both("shop")},
		{
			name: "a kept queue", args: []string{"ENV=prod", "FROM=https://sqs/old", "QUEUE=Live"},
			want: "sqs create-queue --queue-name surehook-prod-move --query QueueUrl --output text\n" +
				`sqs set-queue-attributes --queue-url https://sqs/surehook-prod-move --attributes {"RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:123456789012:old\",\"maxReceiveCount\":1000}"}` + "\n" +
				move + "old" + to + "surehook-prod-LiveQueueUrl",
		},
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
			calls, err := os.ReadFile(filepath.Join(bin, "calls"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, strings.TrimSpace(string(calls))); diff != "" {
				t.Errorf("make redrive %v (-want +got):\n%s", tt.args, diff)
			}
		})
	}
}
