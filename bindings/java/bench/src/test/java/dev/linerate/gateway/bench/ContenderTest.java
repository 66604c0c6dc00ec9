package dev.linerate.gateway.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.linerate.gateway.Transport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** All contenders decode the messages in testdata/gateway correctly. */
class ContenderTest {
    private static final Path TESTDATA = Path.of(System.getProperty("linerate.testdata"));

    @TempDir
    Path folder;

    private Corpus corpus;

    @BeforeEach
    void oneShard() throws IOException {
        for (String kind : new String[] {".msgs", ".zlib", ".zst"}) {
            Files.copy(TESTDATA.resolve("sample" + kind), folder.resolve("shard-0" + kind));
        }
        corpus = new Corpus(folder, 1);
    }

    @ParameterizedTest
    @EnumSource(Contender.class)
    void payloadsEqualThoseSent(Contender contender) throws IOException {
        Frame[] frames = corpus.frames(0, contender.transport);
        byte[][] payloads = corpus.payloads[0];
        assertEquals(306, payloads.length);
        Compare.all(contender, frames, payloads);
        payloads[300][7] ^= 1;
        assertThrows(IllegalStateException.class, () -> Compare.all(contender, frames, payloads));
    }

    /**
     * Each contender decodes its stream to the end, twice. Jackson and JDA find as many members in
     * its payloads as in the original ones.
     */
    @ParameterizedTest
    @EnumSource(Contender.class)
    void contendersReadStreamsAgainAndParse(Contender contender) throws IOException {
        Frame[] frames = corpus.frames(0, contender.transport);
        List<Supplier<Taker>> parsers = List.of(Parsed.Tree::new, Parsed.DataObjects::new);
        for (Supplier<Taker> parser : parsers) {
            Taker trees = parser.get();
            try (Connection connection = contender.connect()) {
                for (int round = 0; round < 2; round++) {
                    connection.reset();
                    for (Frame frame : frames) {
                        connection.message(frame, trees);
                    }
                }
            }
            Taker parsed = parser.get();
            for (byte[] payload : corpus.payloads[0]) {
                parsed.array(payload, payload.length);
            }
            assertEquals(2 * parsed.sum(), trees.sum());
        }
    }

    @ParameterizedTest
    @EnumSource(Contender.class)
    void recompressedMessagesDecode(Contender contender) throws IOException {
        byte[][] payloads = corpus.live(0);
        Compare.all(contender, Corpus.compressed(payloads, contender.transport), payloads);
    }

    /** Also those with discord-zstd-java, of which a double is on the class path. */
    @Test
    void everyContenderIsAvailable() {
        assertEquals(List.of(Contender.values()), Contender.available());
    }

    @Test
    void truncatedShardsAreErrors() throws IOException {
        Path file = folder.resolve("shard-0.zst");
        byte[] all = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(all, all.length - 1));
        assertThrows(IOException.class, () -> corpus.frames(0, Transport.ZSTD));
        assertThrows(IOException.class, () -> new Corpus(TESTDATA, 1));
        assertTrue(corpus.frames(0, Transport.ZLIB).length > 0);
    }
}
