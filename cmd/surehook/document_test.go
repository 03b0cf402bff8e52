package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "rewrite docs/cli.md")

// document is the page about the command line.
const document = "../../docs/cli.md"

// TestDocument compares docs/cli.md with the commands.
func TestDocument(t *testing.T) {
	t.Parallel()

	root := (&program{}).root()
	root.InitDefaultCompletionCmd()
	var b bytes.Buffer
	b.WriteString(introduction)
	b.WriteString("\n## Flags of all commands\n\n```text\n" + root.PersistentFlags().FlagUsages() + "```\n")
	describeCommands(&b, root)
	if *update {
		if err := os.WriteFile(document, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("docs/cli.md is not what the commands say: run go test ./cmd/surehook -args -update\n%s", diff)
	}
}

func describeCommands(b *bytes.Buffer, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if c.Hidden || c.Name() == "help" {
			continue
		}
		level := "##"
		if c.Parent() != c.Root() {
			level = "###"
		}
		fmt.Fprintf(b, "\n%s surehook %s\n\n%s.\n", level, strings.TrimPrefix(c.CommandPath(), "surehook "), c.Short)
		if c.Name() == "completion" {
			b.WriteString("`surehook completion --help` says how to load the script of bash, zsh, fish or PowerShell.\n")
			continue
		}
		text := ""
		if c.Long != "" {
			text += c.Long + "\n\n"
		}
		c.InitDefaultHelpFlag()
		_ = c.Flags().MarkHidden("help")
		if !c.HasSubCommands() || c.LocalNonPersistentFlags().HasAvailableFlags() {
			text += c.UseLine() + "\n"
		}
		if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
			text += "\n" + flags.FlagUsages()
		}
		if c.Example != "" {
			text += "\nExamples:\n" + c.Example + "\n"
		}
		if text != "" {
			b.WriteString("\n```text\n" + text + "```\n")
		}
		describeCommands(b, c)
	}
}

const introduction = `# The command line

For everybody who sends, watches or replays webhooks from a terminal. After this page you can send a first one, and you find every command.

The code writes this page: ` + "`go test ./cmd/surehook -args -update`" + `. ` + "`make cli`" + ` builds the program, one static binary, to ` + "`bin/surehook`" + `.

## A first webhook

` + "```sh" + `
bin/surehook dev --port 8080                     # prints two lines for the other terminals: export SUREHOOK_URL=... SUREHOOK_API_KEY=...
bin/surehook listen --subscribe 'order.*'        # a receiver with an endpoint of its own
bin/surehook send order.paid '{"order": 4711}'   # listen prints the verified webhook
` + "```" + `

## Why was it not delivered?

` + "```sh" + `
surehook find order-4711                         # any id, also your own: prints the command that shows what became of it
surehook deliveries get dlv_...                  # the attempts, the receiver's answers, and the next attempt
surehook dead-letters                            # what died, by cause, with a suggestion
surehook endpoints conditions                    # how the endpoints do, the worst first
` + "```" + `

## Settings

` + "```sh" + `
surehook login --api-url https://hooks.example.com --context prod   # asks for the key, checks and stores it
surehook context list                                               # and use, remove; logout removes the context in use
` + "```" + `

A context is a name for the settings of a deployment: address, key and tenant. ` + "`surehook login`" + ` stores a context in the configuration file, and its key in a file
of its own, ` + "`keys/NAME`" + ` beside the configuration, which only the user can read. The word profile is left to the profiles of signatures.
The configuration file is ` + "`--config`" + `, ` + "`SUREHOOK_CONFIG`" + `, or surehook/config.json in the user's configuration folder (on Linux ` + "`~/.config`" + `).

Each setting comes from the first source that has it:

1. a flag;
2. the context of ` + "`--context`" + `;
3. a variable of the environment;
4. the context of ` + "`SUREHOOK_CONTEXT`" + `, or the one in use: ` + "`context`" + ` of the file. Without a context, the file's own fields.

The key and the tenant of a context are for its own address: with another ` + "`--api-url`" + ` or ` + "`SUREHOOK_URL`" + ` they are not used.

| flag | environment | field of the file or of a context |
|---|---|---|
| ` + "`--api-url`" + ` | ` + "`SUREHOOK_URL`" + ` | ` + "`url`" + ` |
| ` + "`--key-file`" + `: a file with the key | ` + "`SUREHOOK_API_KEY`" + `: the key | ` + "`key_file`" + `, relative to the configuration, or ` + "`key_command`" + `: a program and its arguments |
| ` + "`--tenant`" + ` | ` + "`SUREHOOK_TENANT`" + ` | ` + "`tenant`" + ` |
| ` + "`--output`" + ` | ` + "`SUREHOOK_OUTPUT`" + ` | ` + "`output`" + ` |
| ` + "`--context`" + ` | ` + "`SUREHOOK_CONTEXT`" + ` | ` + "`context`" + `, of the file |

` + "```json" + `
{"url": "https://hooks.example.com", "key_command": ["pass", "show", "surehook"], "tenant": "acme"}
` + "```" + `

No flag and no configuration holds a key, and the program never prints the key of a request. The key goes to https addresses, and to http on loopback only.
Before the first key goes to an address, the program reads ` + "`/v1/openapi.yaml`" + ` there without a key. If that is not the contract of Surehook, the program names the
address and sends no key. It remembers the addresses that passed in ` + "`surehook/origins`" + ` of the user's cache folder (on Linux ` + "`~/.cache`" + `).

## Tables, times and completion

Tables are for people, and may change; scripts read ` + "`--output json`" + `. In a list, times are relative to now, numbers are right-aligned, and endpoints have their uid, or
their id with the host of the URL. The names cost one request for the tenant's first 100 endpoints; others keep their ids. On a terminal, the widest column of free text
is cut to the width. ` + "`get`" + ` shows a time both ways.

` + "`--since` and `--until`" + ` take a duration before now such as ` + "`1h`, `2d` or `1d12h`" + `; ` + "`today` or `yesterday`" + `, at midnight; a time of day such as ` + "`10:00`" + `, of yesterday if today's is still to
come; or a time such as 2026-11-01T00:00:00Z. Days and times of day are those of this machine's zone. Statistics cut them to whole hours.

With the script of ` + "`surehook completion`" + `, the shell completes endpoints, tenants, event types and contexts. A tab costs one request of at most two seconds, runs no
` + "`key_command`" + `, and says nothing when the request fails.

` + "`--output json`" + ` prints the API's JSON with all fields, and characters that a terminal would obey as escapes of JSON; ` + "`table`" + ` prints them as a
replacement character.
Notes, questions and progress go to standard error.

## Exit codes

| code | meaning |
|---|---|
| 0 | done; also Ctrl-C for ` + "`dev`, `listen` and `tail`" + ` |
| 1 | the API refused the request, a check failed, or a signature is wrong |
| 2 | the command line, the settings or a file is wrong |
| 3 | no answer, a 429, a 5xx, or a delivery in progress: the same command may succeed later |
| 130 | Ctrl-C |
`
