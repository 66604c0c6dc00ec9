package dev.linerate.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.ClassNameFilter.includeClassNamePatterns;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;
import static org.junit.platform.launcher.TagFilter.excludeTags;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs the tests of this package with {@code -Xcheck:jni}, except those with child processes. */
@Tag("children")
class CheckedJniTest {
    /**
     * Runs the tests that start no other virtual machine; prints failures and the number that
     * passed.
     */
    static final class Main {
        public static void main(String[] arguments) {
            LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                    .selectors(selectPackage("dev.linerate.gateway"))
                    .filters(
                            includeClassNamePatterns("dev\\.linerate\\.gateway\\.[A-Z]\\w*Test"), excludeTags("children"))
                    .build();
            SummaryGeneratingListener summary = new SummaryGeneratingListener();
            LauncherFactory.create().execute(request, summary);
            TestExecutionSummary result = summary.getSummary();
            result.printFailuresTo(new PrintWriter(System.out));
            System.out.println("passed: " + result.getTestsSucceededCount());
            System.exit(result.getTotalFailureCount() == 0 ? 0 : 1);
        }
    }

    @Test
    void checkedJniReportsNoWarning() throws Exception {
        List<String> options =
                Arrays.asList("-Xcheck:jni", "-Dlinerate.testdata=" + System.getProperty("linerate.testdata"));
        Child child = Child.run(options, Main.class);
        assertEquals(0, child.exitCode, child.output);
        // Warnings of the virtual machine would be before or after this line.
        assertTrue(child.output.matches("passed: \\d{3}"), child.output);
    }
}
