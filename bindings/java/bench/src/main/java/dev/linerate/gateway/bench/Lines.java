package dev.linerate.gateway.bench;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.PackageVersion;
import com.github.luben.zstd.util.ZstdVersion;
import io.netty.util.Version;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import net.dv8tion.jda.api.JDAInfo;

/** Prints a run and its measurements as JSON Lines. */
final class Lines {
    private static final String VERSION = "0.1.0";

    private final ObjectMapper mapper = new ObjectMapper().enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN);
    private final PrintStream out;

    /** Prints the line that describes the run with these arguments. */
    Lines(PrintStream out, String[] args) throws IOException {
        this.out = out;
        Map<String, Object> run = new LinkedHashMap<>();
        run.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        run.put("cpu", cpu());
        run.put("linerate", linerate());
        run.put("command", command(args));
        run.put("versions", versions());
        print(Map.of("run", run));
    }

    /**
     * Prints a measurement. Parameters and metrics are texts, numbers, or results of
     * {@link Samples#metrics}.
     */
    void measurement(
            String shape, String data, String contender, Map<String, Object> parameters, Map<String, Object> metrics)
            throws IOException {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("shape", shape);
        line.put("data", data);
        line.put("contender", contender);
        line.put("params", parameters);
        line.put("metrics", metrics);
        print(line);
    }

    /** Rounds a parameter or result to six significant digits. */
    static BigDecimal number(double value) {
        return new BigDecimal(value).round(new MathContext(6)).stripTrailingZeros();
    }

    private void print(Map<String, Object> line) throws JsonProcessingException {
        out.println(mapper.writeValueAsString(line));
    }

    /** The arguments without folders of this machine. */
    static String command(String[] args) {
        return Arrays.stream(args)
                .map(word -> word.contains(File.separator) ? String.valueOf(Path.of(word).getFileName()) : word)
                .collect(Collectors.joining(" ", "bench ", ""));
    }

    /**
     * The processor's name with family and model, because virtual machines use one name for several
     * generations.
     */
    private static String cpu() throws IOException {
        Map<String, String> info = new HashMap<>();
        for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
            String[] pair = line.split(":", 2);
            if (pair.length == 2) {
                info.putIfAbsent(pair[0].strip(), pair[1].strip());
            }
        }
        String name = info.getOrDefault("model name", System.getProperty("os.arch"));
        boolean known = info.containsKey("cpu family") && info.containsKey("model");
        return known ? name + " (family " + info.get("cpu family") + " model " + info.get("model") + ")" : name;
    }

    /** Linerate's version, and the commit if this runs in a git checkout. */
    private static String linerate() {
        try {
            Process git = new ProcessBuilder("git", "describe", "--always", "--dirty", "--tags")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String commit = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return git.waitFor() == 0 ? VERSION + " " + commit : VERSION;
        } catch (IOException noGit) {
            return VERSION;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return VERSION;
        }
    }

    private static Map<String, String> versions() {
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("jdk", System.getProperty("java.vm.vendor") + " " + System.getProperty("java.vm.version"));
        versions.put("zstd-jni", ZstdVersion.VERSION);
        versions.put("Jackson", PackageVersion.VERSION.toString());
        versions.put("JDA", JDAInfo.VERSION);
        versions.put("Netty", Version.identify().get("netty-codec-http").artifactVersion());
        if (DiscordZstdJava.isPresent()) {
            versions.put("discord-zstd-java", DiscordZstdJava.version());
        }
        return versions;
    }
}
