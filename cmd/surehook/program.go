package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"surehook.example/surehook/client"
	"surehook.example/surehook/internal/names"
)

// The exit codes of the program. docs/cli.md documents them.
const (
	exitOK          = 0
	exitFailed      = 1   // the API refused the request, or a check failed
	exitUsage       = 2   // a flag, an argument, the configuration or a file is wrong
	exitUnreachable = 3   // no answer, a 429 or a 5xx: the same command may succeed later
	exitInterrupted = 130 // Ctrl-C
)

// program is one run of the program, with its surroundings.
type program struct {
	In       io.Reader
	Out, Err io.Writer
	Lookup   func(string) (string, bool)
	Home     func() (string, error) // the folder of configurations
	Cache    func() (string, error) // the folder of what can be found out again
	Now      func() time.Time
	Width    func() int // of the terminal behind Out, in characters; 0 or nil for none
	Colour   bool       // words for states have colours on a terminal
	HTTP     *http.Client

	Browse func(ctx context.Context, address string) error // opens a page in the browser
	Secret func(context.Context) (string, error)           // reads a line from a terminal without showing it; nil: In is no terminal

	flags settings      // as the command line has them
	began bool          // a command runs: the command line was read
	lines *bufio.Reader // of In, once a question was asked
}

// line reads a line from In, until ctx ends.
func (p *program) line(ctx context.Context) (string, error) {
	if p.lines == nil {
		p.lines = bufio.NewReader(p.In)
	}
	return await(ctx, func() (string, error) { return p.lines.ReadString('\n') })
}

// await returns what read returns, or errInterrupted at the end of ctx: a read from a terminal
// does not end with ctx.
func await(ctx context.Context, read func() (string, error)) (string, error) {
	type reply struct {
		text string
		err  error
	}
	replies := make(chan reply, 1)
	go func() {
		text, err := read()
		replies <- reply{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", errInterrupted
	case got := <-replies:
		return got.text, got.err
	}
}

// errInterrupted ends a command after Ctrl-C.
var errInterrupted = errors.New("interrupted")

// usageError is a fault of the command line, the configuration or a file.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes the command line and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := p.root() //nolint:contextcheck // commands have the context of ExecuteContext
	root.SetArgs(args)
	root.SetIn(p.In)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = errors.Join(errInterrupted, err)
	}
	if err != nil && !p.began {
		err = usageError{err}
	}
	code := exitCode(err)
	if code != exitOK && code != exitInterrupted {
		fmt.Fprintf(p.Err, "surehook: %s\n", describe(err))
	}
	return code
}

// exitCode returns the exit code for the error of a command.
func exitCode(err error) int {
	refused, answered := errors.AsType[*client.Problem](err)
	_, unreachable := errors.AsType[*client.UnreachableError](err)
	_, usage := errors.AsType[usageError](err)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case unreachable, answered && refused.Temporary():
		return exitUnreachable
	case usage:
		return exitUsage
	default:
		return exitFailed
	}
}

// failure is the result of a command that did its work and found a fault.
type failure string

func (f failure) Error() string { return string(f) }

// root returns the tree of commands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "surehook",
		Short: "Deliver webhooks: the command line of Surehook",
		Long: "surehook calls the API of a deployment, receives and verifies webhooks for tests,\n" +
			"and runs Surehook in one process for development.",
		Example: "  surehook health                                        # is anything wrong?\n" +
			"  surehook why orders                                    # what is wrong with an endpoint?\n" +
			"  surehook find order-4711                               # what became of an event?\n" +
			"  surehook replay --endpoint orders --since 10:00 --rate 5",
		Version:           names.Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		Args:              arguments,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.StringVar(&p.flags.URL, "api-url", "", "address of the API (SUREHOOK_URL)")
	flags.StringVar(&p.flags.KeyFile, "key-file", "", "file with the API key (SUREHOOK_API_KEY holds the key itself)")
	flags.StringVarP(&p.flags.Tenant, "tenant", "t", "", "tenant (SUREHOOK_TENANT)")
	flags.StringVarP(&p.flags.Output, "output", "o", "", "json or table (SUREHOOK_OUTPUT), default table")
	flags.StringVar(&p.flags.context, "context", "", "context of the configuration file, before the environment (SUREHOOK_CONTEXT: after the environment)")
	flags.StringVar(&p.flags.config, "config", "", "configuration file (SUREHOOK_CONFIG), default surehook/config.json in the user's configuration folder")
	_ = root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{outputJSON, outputTable}, cobra.ShellCompDirectiveNoFileComp)) // fails for an unknown flag only
	root.AddCommand(p.dev(), p.listen(), p.send(), p.verify(), p.tail())
	root.AddCommand(p.resources()...)
	root.AddCommand(p.find(), p.replay(), p.deadLetters(), p.health(), p.stats(), p.smoke(), p.open(), p.login(), p.logout(), p.contexts(), p.why(), p.version())
	groupHelp(root)
	p.complete(root)
	p.note(root)
	return root
}

// note makes each command note its begin: errors before are about the command line.
func (p *program) note(c *cobra.Command) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			p.began = true
			return run(c, args)
		}
	}
	for _, child := range c.Commands() {
		p.note(child)
	}
}

// groupHelp puts the commands into groups, as the help shows them.
func groupHelp(root *cobra.Command) {
	for _, g := range []struct{ title, names string }{
		{"On call:", "health why find deliveries dead-letters replay replays stats tail audit open"},
		{"Send and receive:", "send events listen verify"},
		{"Manage:", "endpoints event-types tenants keys rejects"},
		{"This program:", "dev smoke login logout context version"},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for name := range strings.FieldsSeq(g.names) {
			for _, c := range root.Commands() {
				if c.Name() == name {
					c.GroupID = g.title
				}
			}
		}
		root.SetHelpCommandGroupID(g.title) // of the last group
		root.SetCompletionCommandGroupID(g.title)
	}
}
