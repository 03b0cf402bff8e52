package work

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"surehook.example/surehook/internal/names"
)

// MostMemory bounds the memory of a function on the path of events, which has 160 MB, in MB.
const MostMemory = 120

// heapLimit is below the limit of the deployed functions, 120 MiB: a runtime with more room uses it.
const heapLimit = "80MiB"

const measured = "SUREHOOK_TEST_MEASURED" // set in the process that is measured

// HoldMemory does something in a process of its own, and fails the test if that process had more than
// MostMemory at any time, with all that the runtime and the program take. Elsewhere than on Linux, and
// in short runs, it skips the test.
func HoldMemory(t *testing.T, do func()) {
	t.Helper()

	if runtime.GOOS != "linux" || testing.Short() {
		t.Skip("takes long, and reads the memory of a process from /proc")
	}
	if os.Getenv(measured) != "" { //nolint:forbidigo // this program, run again
		do()
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, most, _ := strings.Cut(string(status), "VmHWM:")
		fmt.Println("most memory:", strings.Fields(most)[0]) //nolint:forbidigo // for the other process
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")                                         //nolint:gosec // this program
	child.Env = append(os.Environ(), measured+"=1", names.EnvMemoryLimit+"="+heapLimit, names.EnvGarbage+"="+names.CollectAt) //nolint:forbidigo // as above
	out, err := child.CombinedOutput()
	found := regexp.MustCompile(`most memory: (\d+)`).FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	kibibytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	if got := kibibytes << 10 / 1_000_000; got > MostMemory {
		t.Errorf("the process had %d MB; want at most %d", got, MostMemory)
	} else {
		t.Logf("the process had %d MB", got)
	}
}
